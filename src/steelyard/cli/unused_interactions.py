"""Interactions of namespaces that no row has: asked for in vain, so it is said."""

from steelyard._messages import did_you_mean
from steelyard.features.names import Names
from steelyard.io.stream import Stream

_MOST = 10  # namespaces that are listed


def in_vain(stream: Stream, names: Names | None) -> list[str]:
    """A line for each, with the namespaces that there are, as far as names have been kept."""
    if not stream.unmet:
        return []
    met = {} if names is None else dict.fromkeys(map(_namespace, names.by_index().values()))
    met.pop("", None)
    some = ", ".join([*met][:_MOST]) + (", …" if len(met) > _MOST else "")
    there = f" (there are {some})" if met else ""
    return [
        f"--interactions: no row has a namespace {name!r}, so nothing was crossed with it"
        f"{did_you_mean(name, met)}{there}"
        for name in stream.unmet
    ]


def _namespace(feature: str) -> str:
    """Of `namespace^name`; a crossed one is named by its parts, with a * between."""
    return feature.partition("*")[0].rpartition("^")[0]
