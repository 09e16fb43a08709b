"""`make test-installed`: the built wheel without extras, as people have it, under unfriendly circumstances.

A fresh environment gets the wheel and what it depends on, the newest versions or the oldest: neither Numba nor
a compiler. Then a model is trained and predicts: as usual; without HOME; where no folder can be written; as
another user; by two processes at once; and with each library of the wheel that this processor can run. Each
must succeed without a word of a traceback, and with one library all models are the same to the last bit.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from steelyard.native import processor
from tests.support.versions import (
    DRAWING,
    ENDS,
    ROOT,
    find_interpreter,
    last_line,
    oldest,
    read_requirements,
    run,
)

_NOBODY = 65534
_ROWS = "".join(f"{'no' if k % 3 else 'yes'},{k % 7},{'abc'[k % 3]} word {k % 5}\n" for k in range(200))
_EXTRAS = {
    "convert": (["convert", "rows.csv", "-o", "rows.arrow"], "steelyard[arrow]"),
    "active label": (["active", "label", "rows.csv", "--classes", "no,yes"], "steelyard[label]"),
}


@click.command()
@click.option("--python", default=f"3.{sys.version_info.minor}", show_default=True)
@click.option("--end", type=click.Choice(ENDS), default="newest", show_default=True)
def main(python: str, end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        interpreter = _interpreter(python)
        installed = Installed(_install(interpreter, end, Path(folder)), Path(folder))
        failed = [name for name, trial in TRIALS.items() if not _report(name, trial, installed)]
    sys.exit(int(bool(failed)))


def _report(name: str, trial: Callable[["Installed"], None], installed: "Installed") -> bool:
    try:
        trial(installed)
    except AssertionError as error:
        click.echo(f"FAILED  {name}: {error}")
        return False
    except PermissionError as error:
        click.echo(f"left out  {name}: {error}")
        return True
    click.echo(f"passed  {name}")
    return True


def _interpreter(python: str) -> Path:
    """One that other users may run, too, if there is one."""
    found = find_interpreter(python)
    candidates = [Path(f"/usr/local/bin/python{python}"), Path(f"/usr/bin/python{python}")]
    for each in [*candidates, *([found] if found else [])]:
        if each.exists() and _is_open(each):
            return each
    if found is None:
        raise click.ClickException(f"there is no Python {python} on PATH, nor in the folders of pyenv or uv")
    return found


def _is_open(program: Path) -> bool:
    others = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        done = subprocess.run([program, "-c", ""], **others, cwd="/", capture_output=True)  # type: ignore[call-overload]
    except PermissionError:
        return False
    return bool(done.returncode == 0)


def _install(interpreter: Path, end: str, folder: Path) -> Path:
    """Returns the environment's folder of programs. The pip that builds has no Numba beside it, as most people's."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    environment, builder = folder / "environment", folder / "builder"
    own = str(environment / "bin" / "python")
    names = {"numba", "llvmlite", "numpy", "scipy", "scikit-learn"}
    steps = [
        [sys.executable, "-m", "venv", str(builder)],
        [
            str(builder / "bin" / "python"),
            *pip[1:],
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            str(folder),
            str(ROOT),
        ],
        [str(interpreter), "-m", "venv", "--without-pip", str(environment)],
    ]
    for step in steps:
        _succeed(run(step))
    (wheel,) = folder.glob("*.whl")
    pins = []
    if end == "oldest":
        declared = [each for each in read_requirements() if each.name not in DRAWING | {"pyarrow"}]
        pins = [oldest(sys.executable, each) for each in declared if each.name in names]
    install = [*pip, "--python", own, "install", "--quiet", "--only-binary", ":all:", str(wheel), *pins]
    _succeed(run(install))
    listed = run([*pip, "--python", own, "list", "--format", "freeze"]).stdout.split()
    assert not [line for line in listed if line.split("==")[0] in ("numba", "llvmlite")], listed
    click.echo(f"{wheel.name} with {' '.join(line for line in listed if line.split('==')[0] in names)}")
    return environment / "bin"


def _succeed(done: "subprocess.CompletedProcess[str]") -> None:
    if done.returncode:
        raise click.ClickException(f"{' '.join(done.args)}: {last_line(done)}")


class Installed:
    """The commands of the environment, each in a folder of its own."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder, self._count = programs, folder, 0
        self._models: dict[str | None, bytes] = {}

    def place(self) -> Path:
        self._count += 1
        place = self._folder / f"run{self._count}"
        place.mkdir()
        (place / "home").mkdir()
        (place / "rows.csv").write_text("label,number,text\n" + _ROWS)
        for each in (place, place / "home"):
            each.chmod(0o777)
        return place

    def start(self, place: Path, *arguments: str, env: dict[str, str | None], **more: Any) -> Any:
        """Only what everybody has is in its environment, and `env`; None takes something away."""
        usual = {"PATH": str(self._programs), "HOME": str(place / "home"), "LANG": "C.UTF-8"}
        given = {name: value for name, value in (usual | env).items() if value is not None}
        command = [str(self._programs / "steelyard"), *arguments]
        more |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=place, env=given, text=True, **more)

    def learn(self, env: dict[str, str | None], writers: int = 1, **more: Any) -> None:
        """Train and predict; the model is that of the first time with this library."""
        place = self.place()
        outputs = [f"m{number}" for number in range(writers)]
        running = [
            self.start(place, "train", "rows.csv", "--bits", "12", "-o", each, env=env, **more)
            for each in outputs
        ]
        for each in running:
            self._check(each)
        self._check(self.start(place, "predict", "m0", "rows.csv", env=env, **more))
        for each in outputs:
            first = self._models.setdefault(env.get(processor.VARIABLE), (place / each).read_bytes())
            assert (place / each).read_bytes() == first, "another model"

    def refuses(self, arguments: list[str], wanted: str) -> None:
        process = self.start(self.place(), *arguments, env={})
        said = process.communicate(timeout=600)[1]
        assert process.returncode in (1, 2), (process.returncode, said)
        assert "Traceback" not in said, said
        assert wanted in said, said

    def model_of(self, level: str | None) -> bytes:
        return self._models[level]

    @staticmethod
    def _check(process: Any) -> None:
        said = process.communicate(timeout=900)[1]
        assert process.returncode == 0, said[-2000:]
        assert "Traceback" not in said, said[-2000:]


def _another_user(installed: Installed) -> None:
    if os.geteuid() != 0:
        raise PermissionError("only root can be somebody else")
    installed.learn({}, user=_NOBODY, group=_NOBODY, extra_groups=[])


def _unwritable(installed: Installed) -> None:
    """A file where folders would be: that binds root, too."""
    with tempfile.NamedTemporaryFile() as file:
        here = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "STEELYARD_CACHE_DIR"), f"{file.name}/x")
        installed.learn({**here})


def _each_library(installed: Installed) -> None:
    for level in processor.levels():
        for _ in range(2):
            installed.learn({processor.VARIABLE: level})
    assert installed.model_of(None) == installed.model_of(processor.level()), "not the best library"


def _loss_of_ones_own(installed: Installed) -> None:
    script = """
from dataclasses import dataclass
from steelyard.losses import Loss
@dataclass(frozen=True)
class Own(Loss):
    def value(self, p, y): return (p - y) ** 2
    def derivative(self, p, y): return 2.0 * (p - y)
"""
    place = installed.place()
    (place / "own.py").write_text(script)
    arguments = ["train", "rows.csv", "--label", "number", "--loss", "own:Own", "-o", "m"]
    said = installed.start(place, *arguments, env={"PYTHONPATH": str(place)}).communicate(timeout=600)[1]
    assert "steelyard[own-loss]" in said, said
    assert "Traceback" not in said, said


def _no_extras(installed: Installed) -> None:
    for arguments, wanted in _EXTRAS.values():
        installed.refuses(arguments, wanted)


TRIALS: dict[str, Callable[[Installed], None]] = {
    "as usual": lambda installed: installed.learn({}),
    "without extras, they are named": _no_extras,
    "without HOME": lambda installed: installed.learn({"HOME": None}),
    "no folder that can be written": _unwritable,
    "another user": _another_user,
    "two processes at once": lambda installed: installed.learn({}, writers=2),
    "each library of the wheel": _each_library,
    "a loss of one's own names its extra": _loss_of_ones_own,
}


if __name__ == "__main__":
    main()
