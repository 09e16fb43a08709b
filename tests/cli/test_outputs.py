"""What a command writes never takes the place of what it reads."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from steelyard.cli import main
from steelyard.cli.option_types import NamedPath
from tests.cli.running import refused, rows, run

REFUSAL = "is read, and would be replaced by what is written; name another file"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("label,a\n" + "".join(f"{k % 2},{k % 7}\n" for k in range(70)))
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "FILE", "-o", "FILE"),
        ("train", "FILE", "-o", "LINK"),
        ("train", "FOLDER/*.csv", "-o", "FILE"),
        ("train", "FILE", "--resume", "MODEL", "-o", "FILE"),
        ("sweep", "FILE", "-o", "FILE"),
        ("sweep", "FILE", "--save", "FILE"),
        ("sweep", "FILE", "--resume", "FILE"),
        ("predict", "MODEL", "FILE", "-o", "FILE"),
        ("predict", "MODEL", "FILE", "-o", "MODEL"),
        ("convert", "READY", "-o", "READY"),
    ],
    ids=" ".join,
)
def test_files_that_are_read_stay(file: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    model, link, ready = (tmp_path / name for name in ("rows.model", "other.csv.link", "rows.arrow"))
    run("train", file, "-o", model)
    run("convert", file, "-o", ready)
    link.symlink_to(file)
    meant = {"FILE": file, "MODEL": model, "LINK": link, "READY": ready, "FOLDER/*.csv": tmp_path / "*.csv"}
    before = {path: path.read_bytes() for path in (file, model, ready)}
    assert REFUSAL in refused(*(meant.get(each, each) for each in arguments))
    assert {path: path.read_bytes() for path in before} == before


def test_a_model_may_go_on_in_its_own_file_and_rows_may_come_from_elsewhere(
    file: Path, tmp_path: Path
) -> None:
    model = tmp_path / "rows.model"
    for further in ((), ("--resume", model)):
        run("train", file, *further, "-o", model)
    run("train", "-", "--format", "vw", "-o", model, stdin=rows(10).encode())


def test_files_that_are_not_ours_are_replaced_by_force_only(file: Path, tmp_path: Path) -> None:
    model, page, hers = (tmp_path / name for name in ("rows.model", "page.html", "hers.txt"))
    run("train", file, "-o", model)
    hers.write_text("precious")
    (tmp_path / "empty").touch()
    for command in (
        ("train", file), ("convert", file), ("predict", model, file), ("report", model, file), ("sweep", file)
    ):  # fmt: skip
        said = refused(*command, "-o", hers)
        assert said == f"{hers} already exists; name another file, or replace it with --force"
    assert hers.read_text() == "precious"
    assert "already exists" in refused("sweep", file, "--save", hers)
    run("predict", model, file, "-o", tmp_path / "empty")
    run("predict", model, file, "-o", hers, "--force")
    run("predict", model, file, "-o", "/dev/null")
    assert hers.read_text() == run("predict", model, file).stdout
    for _ in range(2):  # models and pages say themselves that they are ours
        run("train", file, "-o", model)
        run("report", model, file, "-o", page)


def test_flags_of_other_commands(file: Path) -> None:
    for flag in ("--json", "--jsonl"):
        said = run("predict", file, file, flag, code=2).stderr
        assert f"No such option '{flag}': use --output-format jsonl" in said


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


PATHS = [
    (names, parameter)
    for names, command in commands(main)
    for parameter in command.params
    if isinstance(parameter, click.Option) and isinstance(parameter.type, click.Path)
]


def test_many_options_name_files() -> None:
    assert len(PATHS) > 20


@pytest.mark.parametrize(
    ("names", "option"), PATHS, ids=[" ".join([*names, option.opts[0]]) for names, option in PATHS]
)
def test_no_file_is_called_by_a_dash(
    names: tuple[str, ...], option: click.Option, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`train FILE -o -` wrote a file of that name."""
    monkeypatch.chdir(tmp_path)
    assert isinstance(option.type, NamedPath)
    said = run(*names, option.opts[0], "-", "x", "y", code=2).stderr
    assert "- is standard input or output, which it cannot be; name a f" in said
    assert ("or leave the option out" in said) != option.required
    assert list(tmp_path.iterdir()) == []
