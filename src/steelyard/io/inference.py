"""What files are, seen from their beginning before anything is learned: format, columns and labels.

Always the same number of bytes is looked at, so that what is inferred does not depend on block sizes.
"""

from collections.abc import Sequence
from typing import Any

from steelyard.io import columns as roles
from steelyard.io import formats, label_inference, sources
from steelyard.io.errors import InputError
from steelyard.io.formats import Head, TableOverrides
from steelyard.io.input_spec import InputSpec

_HEAD_BYTES = 1 << 20


def infer(
    paths: Sequence[str],
    overrides: TableOverrides | None = None,
    *,
    format_name: str | None = None,
    **options: Any,
) -> tuple[InputSpec, list[str]]:
    """How to read the files, and the different labels of the first rows. The first file is opened once.

    `options` are those of `InputSpec`; the format and the columns are inferred, unless given.
    """
    with formats.open_head(paths[0]) as head:
        name = format_name or formats.identify_all(paths, head).name
        return _complete(head, InputSpec(name, **options), overrides or TableOverrides())


def _complete(head: Head, spec: InputSpec, overrides: TableOverrides) -> tuple[InputSpec, list[str]]:
    if not head.source.peek(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").strip():
        raise InputError(f"{head.source.path}: is empty")
    found = formats.by_name(spec.format)
    if not found.binary:
        head.check_text()
    spec = found.complete(spec, head, overrides)
    return spec, found.head_labels(spec, head)


def distinct_labels(paths: Sequence[str], spec: InputSpec, limit: int) -> list[str]:
    """The different labels of whole files, as they are written, sorted: no rare class is missed.

    A pipe can be read only once: its labels are those of its first rows. More than `limit` labels raise
    an InputError. Of a table only the label column is read.
    """
    found: set[str] = set()
    kind = formats.by_name(spec.format)
    for path in paths:
        if sources.once_only(path):
            with formats.open_head(path) as head:
                found.update(kind.head_labels(spec, head))
            continue
        for labels in kind.label_sets(spec, path):
            found |= labels
            if len(found) > limit:
                column = None if spec.columns is None else spec.columns.with_role(roles.LABEL)[0]
                raise label_inference.too_many(path, limit, found, column)
    return sorted(found)
