"""`Reading`: how files are read. Kept with a model, so that whatever it predicts is read in the same way."""

from dataclasses import asdict, dataclass
from typing import Any

from steelyard.features.folding import Folding
from steelyard.features.interactions import interactions
from steelyard.features.names import Names
from steelyard.io.labels import LabelRule
from steelyard.io.stream import Format

DEFAULT_BITS = 20


@dataclass(frozen=True)
class Reading:
    """Format, the number of features (2^bits), interactions, and what the labels are called."""

    format: str
    bits: int = DEFAULT_BITS
    interactions: tuple[str, ...] = ()
    label_rule: LabelRule | None = None
    dtype: str = "float32"

    @property
    def features(self) -> int:
        return 1 << self.bits

    def reader(self, names: Names | None = None) -> Format:
        """The reader of that format; `names` collects what the features are called."""
        crossed = interactions(self.interactions)
        folding = Folding(self.bits, crossed, names)
        if self.format == "vw":
            from steelyard.io.vw import VwText

            return VwText(folding, crossed, self.dtype)
        from steelyard.io.svmlight import SvmlightText

        return SvmlightText(folding, self.dtype)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(stored: dict[str, Any]) -> Reading:
    """What `as_json` has written."""
    rule = stored["label_rule"]
    return Reading(
        **stored
        | {
            "label_rule": None if rule is None else LabelRule(**rule),
            "interactions": tuple(stored["interactions"]),
        }
    )
