"""The entry: `python -m benchmarks.speed.run`. Tables on stdout, the same figures as JSON beside them."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from rich.console import Console

from benchmarks.speed import memory, startup, sweeps, tables
from benchmarks.support import datasets
from benchmarks.support.generate import DataSet, generate
from benchmarks.support.timing import Table, save

RESULTS = Path(__file__).parents[1] / "results"
_PACKAGES = ("steelyard", "numba", "numpy", "scikit-learn", "vowpalwabbit", "river")


@click.command()
@click.option("--rows", default=200_000, show_default=True, help="Rows of the generated matrix.")
@click.option("--repeats", default=9, show_default=True, help="Rounds of every comparison.")
@click.option("--only", "-o", multiple=True, type=click.Choice(list("abcdefg")), help="These tables only.")
@click.option("--output", default=RESULTS / "latest.json", show_default=True, type=click.Path(path_type=Path))
@click.option(
    "--markdown", type=click.Path(path_type=Path), help="Write the tables for docs/benchmarks.md too."
)
def main(rows: int, repeats: int, only: tuple[str, ...], output: Path, markdown: Path | None) -> None:
    """Speed, start-up and memory beside the peers."""
    console, news = Console(width=max(Console().width, 140)), Console(stderr=True)
    wanted = set(only or "abcdefg")
    made: list[Table] = []

    def show(*ready: Table) -> None:
        made.extend(ready)
        for table in ready:
            table.show(console)

    if "e" in wanted:
        news.print("start-up …")
        show(startup.table(min(repeats, 7)))
    news.print(f"generating {rows} rows …")
    for data in (generate(rows), datasets.rcv1()):
        if data is None:
            console.print(f"{datasets.RCV1_FILE} is not in the folder named by STEELYARD_DATA: left out.\n")
        else:
            show(*_measured(data, repeats, wanted, news))
    about = {
        "processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES}, "repeats": repeats,
    }  # fmt: skip
    save(made, about, output)
    if markdown is not None:
        markdown.write_text("\n".join(table.markdown() for table in made))
    console.print(f"{about['processor']}, {about['packages']}; written to {output}", highlight=False)


def _measured(data: DataSet, repeats: int, wanted: set[str], news: Console) -> list[Table]:
    ready: list[Table] = []
    rows = data.rows.shape[0]
    news.print(f"{data.name}: {rows} rows, {data.entries / rows:.0f} features a row …")
    if wanted & set("ab"):
        ready += [table for table in tables.kernels_and_fits(data, repeats) if table.title[1] in wanted]
    if "c" in wanted:
        ready.append(tables.scalings(data, repeats))
    if "d" in wanted:
        ready.append(
            tables.outsiders(data, min(repeats, 5), rows=min(rows, 20_000), few_rows=min(rows, 2_000))
        )
    if "f" in wanted:
        ready.append(memory.table(data))
    if "g" in wanted and data.name == "rcv1-ccat":
        ready.append(sweeps.table(data, repeats))
    return ready


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()


if __name__ == "__main__":
    main()
