"""Files and commands."""

import shlex
from pathlib import Path

from steelyard.cli.demonstration import folder
from steelyard.cli.demonstration.folder import Folder


def test_what_is_typed_is_what_is_meant() -> None:
    here = Folder(Path("it's a folder"), "sklearn")
    for command in [*here.main_commands(), *here.heavy_commands()]:
        typed = folder.typed(command)
        assert shlex.split(typed.replace("\\\n", "")) == ["steelyard", *folder.words(command)]


def test_commands_fit_narrow_windows() -> None:
    here = Folder(Path("steelyard-demo"), "sklearn")
    lines = [
        line
        for command in [*here.main_commands(), *here.heavy_commands()]
        for line in folder.typed(command).splitlines()
    ]
    assert max(map(len, lines)) <= 60


def test_a_table_is_written_with_its_quotes_and_weights(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    folder.write(path, [("a", 'say "x"'), ("b", "plain")])
    assert path.read_text() == 'package\tdocstring\na\t"say ""x"""\nb\tplain\n'
    folder.write(path, [("a", "text")], [10_000.0])
    assert path.read_text() == "weight\tpackage\tdocstring\n10000\ta\ttext\n"
