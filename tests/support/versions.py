"""`make test-versions`: part of the tests with the oldest and the newest versions that pyproject.toml admits.

For each Python from 3.11 to the newest one that Numba has wheels for, it makes two virtual environments and
runs the tests that depend most on others' versions. The oldest version of a dependency is the first one from
its lower bound on that has a wheel for that Python. Interpreters are looked for on PATH and among those of
pyenv and uv; which were absent is said at the end. Environments stay in .venv/versions for the next time.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv" / "versions"
OLDEST_PYTHON = 11  # of 3
ENDS = ("oldest", "newest")
TOOLS = {"hypothesis", "mpmath", "pytest", "pytest-xdist"}
DRAWING = {
    "hypothesis"
}  # always the newest: each version draws other examples, which says nothing about ours
TESTS = [
    "tests/native", "tests/losses", "tests/test_updates.py", "tests/test_schedules.py",
    "tests/learn/test_linear.py", "tests/learn/test_adaptive.py", "tests/learn/test_lanes.py",
    "tests/text/test_decimals.py", "tests/estimators/test_scikit_learn.py",
]  # fmt: skip


@dataclass(frozen=True)
class Result:
    """One environment: what was installed in it, and how its tests ended."""

    python: str
    end: str
    installed: str
    summary: str
    passed: bool


@click.command()
@click.option("--python", "pythons", multiple=True, help="Only this Python, as 3.12; may be repeated.")
@click.option("--end", "ends", multiple=True, type=click.Choice(ENDS), help="Only this end of the versions.")
@click.argument("tests", nargs=-1)
def main(pythons: tuple[str, ...], ends: tuple[str, ...], tests: tuple[str, ...]) -> None:
    """Run TESTS, or a representative part of them, with the oldest and the newest versions."""
    requirements = read_requirements()
    wanted = pythons or tuple(pythons_of_numba(requirements))
    found = {python: find_interpreter(python) for python in wanted}
    results = []
    for python, interpreter in found.items():
        for end in (ends or ENDS) if interpreter is not None else ():
            assert interpreter is not None
            click.echo(f"Python {python}, {end} versions")
            results.append(try_versions(python, interpreter, end, requirements, list(tests) or TESTS))
            click.echo(f"  {results[-1].installed}\n  {results[-1].summary}")
    for line in report(results, [python for python, interpreter in found.items() if interpreter is None]):
        click.echo(line)
    sys.exit(0 if results and all(result.passed for result in results) else 1)


def read_requirements() -> list[Requirement]:
    """What is installed: dependencies, the extras `arrow` and `own-loss`, and from `dev` what the tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {
        name: [Requirement(line) for line in lines]
        for name, lines in project["optional-dependencies"].items()
    }
    tools = [each for each in extras["dev"] if each.name in TOOLS]
    return [*map(Requirement, project["dependencies"]), *extras["arrow"], *extras["own-loss"], *tools]


def report(results: Iterable[Result], absent: list[str]) -> Iterator[str]:
    """What was tried, and what could not be."""
    for result in results:
        verdict = "passed" if result.passed else "FAILED"
        yield f"{verdict}  Python {result.python} {result.end}: {result.summary}"
    for python in absent:
        yield f"absent  Python {python}: no interpreter on PATH, nor in the folders of pyenv or uv"


def pythons_of_numba(requirements: list[Requirement]) -> Iterator[str]:
    """The Pythons, from our oldest on, that the newest admitted Numba has wheels for."""
    (numba,) = (requirement for requirement in requirements if requirement.name == "numba")
    for minor in range(OLDEST_PYTHON, 100):
        python = f"3.{minor}"
        target = ["--python-version", python, "--target", str(FOLDER / "nothing")]
        if not has_wheel([sys.executable], str(numba), *target):
            return
        yield python


def find_interpreter(python: str) -> Path | None:
    """An interpreter of this version that runs, and not merely something of that name."""
    home = Path.home()
    folders = [
        *sorted(Path(os.environ.get("PYENV_ROOT", home / ".pyenv")).glob(f"versions/{python}.*/bin")),
        *sorted((home / ".local/share/uv/python").glob(f"cpython-{python}.*/bin")),
    ]
    named = shutil.which(f"python{python}")
    candidates = [Path(named)] if named else []
    for candidate in [*candidates, *(folder / "python3" for folder in folders)]:
        command = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if run(command).stdout.strip() == python:
            return candidate
    return None


def try_versions(
    python: str, interpreter: Path, end: str, requirements: list[Requirement], tests: list[str]
) -> Result:
    """Make the environment and run the tests in it."""
    folder = FOLDER / f"{python}-{end}"
    own = str(folder / "bin" / "python")
    if not Path(own).exists():
        made = run([str(interpreter), "-m", "venv", str(folder)])
        if made.returncode != 0:
            return Result(python, end, "", f"could not make {folder}: {last_line(made)}", False)
    pins = [
        oldest(own, each) if end == "oldest" and each.name not in DRAWING else str(each)
        for each in requirements
    ]
    pip = [own, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--upgrade"]
    done = run([*pip, "--only-binary", ":all:", *pins])
    if done.returncode == 0:
        done = run([*pip, "--no-deps", "--editable", str(ROOT)])
    if done.returncode != 0:
        return Result(python, end, " ".join(pins), f"pip failed: {last_line(done)}", False)
    installed = run([own, "-m", "pip", "freeze"]).stdout.split()
    names = [requirement.name.lower() for requirement in requirements] + ["llvmlite"]
    shown = " ".join(line for line in installed if re.split("==", line)[0].lower() in names)
    environment = os.environ | {"STEELYARD_CACHE_DIR": str(folder / "cache")}
    environment.pop("PYTHONPATH", None)
    tried = run([own, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *tests], environment)
    (folder / "pytest.log").write_text(tried.stdout + tried.stderr)
    summary = last_line(tried) + ("" if tried.returncode == 0 else f"; see {folder / 'pytest.log'}")
    return Result(python, end, shown, summary, tried.returncode == 0)


def oldest(python: str, requirement: Requirement) -> str:
    """The requirement pinned to the first admitted version that this interpreter has a wheel of."""
    listed = run([python, "-m", "pip", "index", "versions", requirement.name]).stdout
    versions = re.search(r"Available versions: (.*)", listed)
    for version in admitted(requirement, versions.group(1).split(", ") if versions else []):
        pin = f"{requirement.name}=={version}"
        if has_wheel([python], pin):
            return pin
    return str(requirement)


def admitted(requirement: Requirement, versions: list[str]) -> list[str]:
    """The versions that the requirement admits, the oldest first."""
    return sorted((each for each in versions if each in requirement.specifier), key=Version)


def has_wheel(python: list[str], pin: str, *options: str) -> bool:
    """Whether pip finds a wheel that suits the interpreter."""
    pip = [*python, "-m", "pip", "install", "--disable-pip-version-check", "--dry-run", "--ignore-installed"]
    return run([*pip, "--quiet", "--no-deps", "--only-binary", ":all:", *options, pin]).returncode == 0


def run(command: list[str], environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def last_line(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


if __name__ == "__main__":
    main()
