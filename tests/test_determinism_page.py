"""docs/determinism.md promises nothing without a test that is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/determinism.md").read_text(encoding="utf-8")


def test_every_line_names_a_test_that_exists() -> None:
    promises = [line for line in PAGE.partition("## Not the same")[0].splitlines() if line.startswith("| ")][
        1:
    ]
    assert len(promises) > 20
    for line in promises:
        named = re.search(r"`(tests/[\w/]+\.py)::(test_\w+)` \|$", line)
        assert named is not None, line
        tree = ast.parse((ROOT / named[1]).read_text(encoding="utf-8"))
        assert named[2] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, line
