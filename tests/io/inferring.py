"""Inference of one thing at a time, as tests want it."""

from collections.abc import Sequence

from steelyard.io import formats, inference
from steelyard.io.formats import TableOverrides
from steelyard.io.input_spec import InputSpec


def look(path: str, spec: InputSpec, overrides: TableOverrides | None = None) -> tuple[InputSpec, list[str]]:
    """The spec for a file of a known format, and the different labels of its first rows."""
    return inference.infer([path], overrides, format_name=spec.format, bits=spec.bits)


def format_of(paths: Sequence[str]) -> str:
    with formats.open_head(paths[0]) as head:
        return formats.identify_all(paths, head).name
