"""Start-up: what a command takes in an environment that is as pip makes it, from its start to its end.

    python -m benchmarks.speed.startup --output docs/benchmarks.md

The wheel is built and installed into a fresh environment, without Numba. Each run is a new process with an empty
HOME: nothing is kept from one to the next. The first run of each command, in a just-made environment, has its own
column. scikit-learn's own import takes turns with our estimator's.
"""

import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

from benchmarks.support import sections
from benchmarks.support.timing import Contender, Row, Table, Target, alternate

ROOT = Path(__file__).parents[2]
WORDS = {
    "fruit": "apple pear plum ripe sweet",
    "road": "car bus wheel drive lane",
    "sea": "ship wave sail salt port",
}

IMPORT_SKLEARN = "from sklearn.linear_model import SGDClassifier"
FIT = f"""
{IMPORT_SKLEARN}
import numpy as np
X = np.random.default_rng(0).normal(size=(100, 10))
y = X[:, 0] > 0.0
from steelyard import OnlineClassifier
OnlineClassifier().fit(X, y).predict(X)
"""


@dataclass(frozen=True)
class Command:
    """What is run, and in how many seconds of the wall it should be done."""

    title: str
    arguments: tuple[str, ...]
    bound: float | None = None


COMMANDS = (
    Command("steelyard --help", ("--help",), 0.15),
    Command("train, 100 rows of CSV", ("train", "table.csv", "-o", "table.model"), 0.4),
    Command("train, 100 texts of three classes", ("train", "texts.csv", "-o", "texts.model"), 0.4),
    Command("train, 100 lines of Vowpal Wabbit's text", ("train", "rows.vw", "-o", "rows.model"), 0.4),
    Command("predict, one document", ("predict", "texts.model", "one.csv"), 0.35),
    Command("evaluate, 100 texts", ("evaluate", "texts.model", "texts.csv")),
)
SKLEARN = Command("import of scikit-learn's SGDClassifier", ("-c", IMPORT_SKLEARN))
ESTIMATOR = Command("the same, and fit and predict of OnlineClassifier", ("-c", FIT))


@click.command()
@click.option("--repeats", default=9, show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(repeats: int, output: Path | None) -> None:
    text = page(table(repeats))
    if output is None:
        click.echo(text)
    else:
        sections.write(output, "benchmarks.speed.startup", text)


def page(found: Table) -> str:
    rows = [[row.what, row.theirs, row.ours, str(row.target or ""), row.verdict] for row in found.rows]
    heads = ["a new process", "first run, s", "later runs, s", "target", ""]
    return "\n\n".join(
        [
            "## Start-up",
            "Seconds on the wall from start to end, in a fresh environment with the wheel and what it depends on, "
            "without Numba, with an empty HOME in each run (`python -m benchmarks.speed.startup`). The first run is "
            "also the first that reads these files from the disk; of later runs it is the median.",
            sections.table(heads, rows),
            *found.notes,
        ]
    )


def table(repeats: int) -> Table:
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        place = Path(folder)
        programs = install(place)
        write_inputs(place)
        commands = [
            *((command, programs / "steelyard") for command in COMMANDS),
            *((command, programs / "python") for command in (SKLEARN, ESTIMATOR)),
        ]
        contenders = [process(command, program, place) for command, program in commands]
        first = alternate(contenders, 1, warm_up=False)
        times = alternate(contenders, repeats, warm_up=False)
        size, whole = (_megabytes(place, inside) for inside in ("steelyard/**/*", "**/*"))
    rows = [_row(command, first, times) for command, _ in commands]
    on_top = [
        ours - theirs for ours, theirs in zip(times[ESTIMATOR.title], times[SKLEARN.title], strict=True)
    ]
    found, target = median(on_top), Target(0.4, at_least=False)
    rows.append(Row("OnlineClassifier beyond scikit-learn's import", "", f"{found:.2f}", "", found, target))
    note = (
        f"The package takes {size:.0f} MB installed, with all that it depends on {whole:.0f} MB, bytecode included. "
        f"{platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}."
    )
    return Table("(e) start-up from the wheel, in a fresh environment", "seconds", rows, (note,))


def _row(command: Command, first: Mapping[str, list[float]], later: Mapping[str, list[float]]) -> Row:
    seconds = median(later[command.title])
    target = Target(command.bound, at_least=False) if command.bound else None
    return Row(command.title, "", f"{seconds:.2f}", f"{first[command.title][0]:.2f}", seconds, target)


def _megabytes(folder: Path, inside: str) -> float:
    """What files of the environment take."""
    found = folder.glob(f"environment/lib/*/site-packages/{inside}")
    return sum(file.stat().st_size for file in found if file.is_file()) / 2**20


def install(folder: Path) -> Path:
    """The programs of a fresh environment with the wheel of this checkout."""
    wheels, environment = folder / "wheels", folder / "environment"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    programs = environment / "bin"
    for step in (
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)],
        [sys.executable, "-m", "venv", "--without-pip", str(environment)],
    ):
        subprocess.run(step, check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "--python", str(programs / "python"), "install", str(wheel)], check=True)
    return programs


def write_inputs(folder: Path) -> None:
    draw = random.Random(0)
    numbers = [[draw.random() for _ in range(3)] for _ in range(100)]
    kinds = [draw.choice(list(WORDS)) for _ in numbers]
    texts = [" ".join(draw.choices(WORDS[kind].split(), k=12)) for kind in kinds]
    tables = {
        "table.csv": [
            "a,b,kind,label",
            *(
                f"{a:.3f},{b:.3f},{k},{'yes' if a > b else 'no'}"
                for (a, b, _), k in zip(numbers, kinds, strict=True)
            ),
        ],
        "texts.csv": ["label,text", *(f"{kind},{text}" for kind, text in zip(kinds, texts, strict=True))],
        "rows.vw": [
            f"{1 if a > b else -1} |n a:{a:.3f} b:{b:.3f} |t {text}"
            for (a, b, _), text in zip(numbers, texts, strict=True)
        ],
        "one.csv": ["text", texts[0]],
    }
    for name, lines in tables.items():
        (folder / name).write_text("\n".join([*lines, ""]))


def process(command: Command, program: Path, folder: Path) -> Contender:
    """The command in a new process, with a HOME of its own."""

    def run() -> dict[str, float]:
        home = folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
        began = time.perf_counter()
        done = subprocess.run(
            [str(program), *command.arguments], cwd=folder, env=environment, capture_output=True, text=True
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"{command.title} failed:\n{done.stderr}")
        return {command.title: seconds}

    return run


if __name__ == "__main__":
    main()
