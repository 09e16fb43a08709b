"""`ReadOptions`: what a user says about files. The rest is inferred from their first rows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from steelyard._messages import did_you_mean
from steelyard._parameters import Parameter
from steelyard.features import interactions
from steelyard.io import formats, inference
from steelyard.io.columns import ColumnOverrides
from steelyard.io.errors import InputError
from steelyard.io.formats import TableOverrides
from steelyard.io.input_spec import DEFAULT_BITS, InputSpec
from steelyard.io.labels import ANYTHING, is_number
from steelyard.io.namespaces import NamespaceOptions, check_present
from steelyard.io.transcoding import check_encoding
from steelyard.text.tokens import TextOptions

_OF_TABLES = (
    "label", "weight", "propensity", "count", "positives", "offset", "tag", "text", "category", "number",
    "separator", "header", "words", "characters", "repeated",
)  # fmt: skip
_OF_NAMESPACES = ("ngram", "skips", "keep", "quadratic")
_IN_TABLES: dict[str, tuple[str | Parameter, ...]] = {
    "ngram": ("; use ", Parameter("words"), " for columns of text"),
    "skips": ("; use ", Parameter("words"), " for columns of text"),
    "keep": ("; leave out columns with ", Parameter("ignore")),
    "quadratic": ("; write ", Parameter("quadratic", "one*other"), " with the names of columns"),
}
"""What to use for columns instead."""
_LISTS = ("interactions", "text", "category", "number", "ignore", *_OF_NAMESPACES)
_COLUMNS = ("label", "weight", "propensity", "count", "positives", "offset", "tag")


@dataclass(frozen=True)
class ReadOptions:
    """What `fit_files` takes as keyword arguments, under the same names."""

    format: str | None = None
    bits: int | None = None
    interactions: tuple[str, ...] = ()
    labels: str | tuple[str, ...] | None = None
    """The classes as the files call them, two or more: `ham,spam`, or one by one."""
    weight_factor: float = 1.0
    names: bool = True
    """Whether to keep the names of features, so that the model can be read."""
    label: str | None = None
    weight: str | None = None
    propensity: str | None = None
    count: str | None = None
    positives: str | None = None
    offset: str | None = None
    tag: str | None = None
    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    """Columns of a table; of Vowpal Wabbit's text, the first letters of namespaces, as the next four."""
    keep: tuple[str, ...] = ()
    quadratic: tuple[str, ...] = ()
    """Letters as in `ab`; whole names, as in `user*item`, are interactions."""
    ngram: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    separator: str | None = None
    header: bool | None = None
    words: int = 1
    characters: tuple[int, int] | None = None
    repeated: str = "relative"
    encoding: str | None = None
    """The encoding of text files that are not UTF-8, such as latin-1."""

    @classmethod
    def from_keywords(cls, others: Sequence[str] = (), /, **given: Any) -> "ReadOptions":
        """Options from the keyword arguments of a method: one column may be given without a list around it.

        The method takes `others` as well, which it may be that the user has misspelt.
        """
        own = [each.name for each in fields(cls)]
        for name in given:
            if name not in own:
                known = [*others, *own]
                raise TypeError(
                    f"there is no option {name!r} for reading files{did_you_mean(name, known)}; there are "
                    + ", ".join(known)
                )
        return cls(**{name: _tidy(name, value) for name, value in given.items()})

    @property
    def label_names(self) -> list[str] | None:
        if isinstance(self.labels, str):
            return [name.strip() for name in self.labels.split(",")]
        return None if self.labels is None else list(self.labels)

    def infer(self, paths: Sequence[str], dtype: str) -> tuple[InputSpec, list[str]]:
        """How the files are to be read, and the different labels of their first rows."""
        by_letter = tuple(given for given in self.quadratic if "*" not in given)
        named = *self.interactions, *(given for given in self.quadratic if "*" in given)
        if by_letter and named:
            raise InputError(
                Parameter("quadratic", by_letter[0]), f" names namespaces by first letters, {named[0]} by whole "
                "names: give all of them in one way",
            )  # fmt: skip
        spec, labels = inference.infer(
            paths,
            self._overrides(),
            format_name=self.format,
            bits=self.bits or DEFAULT_BITS,
            interactions=named,
            dtype=dtype,
            text=TextOptions(self.words, self.characters, self.repeated),
            propensities=self.propensity is not None,
            weight_factor=self.weight_factor,
            counted=self.positives is not None,
            encoding=None if self.encoding is None else check_encoding(self.encoding),
        )
        if self.encoding is not None and (formats.by_name(spec.format).binary or spec.format == "excel"):
            raise InputError(Parameter("encoding"), f" is for text, and the files are {spec.format}")
        if spec.columns is None:
            crosses = formats.by_name(spec.format).crosses and not spec.converted
            converted = "converted ones, whose features steelyard convert has made"
            self._check_no_table(converted if spec.converted else spec.format, crosses=crosses)
        if formats.by_name(spec.format).namespaces:
            options = NamespaceOptions(self.ngram, self.skips, self.ignore, self.keep, by_letter)
            check_present(options.wanted(), interactions(named).fields, paths)
            spec = replace(spec, namespaces=None if options == NamespaceOptions() else options)
        else:
            self._check_no_namespaces(spec)
        if self.bits not in (None, spec.bits):
            made = Parameter("bits", spec.bits)
            raise InputError(f"{paths[0]}: was converted for ", made, "; leave ", Parameter("bits"), " out")
        return spec, labels

    def _overrides(self) -> TableOverrides:
        if self.weight is not None and self.propensity is not None:
            raise InputError(
                Parameter("weight"), " and ", Parameter("propensity"), " cannot both be given: one column makes the "
                "weight",
            )  # fmt: skip
        if (self.count is None) != (self.positives is None):
            raise InputError(
                Parameter("count"), " and ", Parameter("positives"), " belong together: so many examples, so many "
                "of them positive",
            )  # fmt: skip
        if self.count is not None and (self.label or self.weight or self.propensity):
            raise InputError(
                Parameter("count"), " is the weight of a row, and ", Parameter("positives"), " says how many have "
                "which label: leave out ", Parameter("label"), ", ", Parameter("weight"), " and ",
                Parameter("propensity"),
            )  # fmt: skip
        columns = ColumnOverrides(
            self.label or self.positives, self.weight or self.propensity or self.count, self.offset, self.tag,
            self.text, self.category, self.number, self.ignore,
            {"label": "label" if self.label else "positives"}
            | {"weight": next((name for name in ("weight", "propensity") if getattr(self, name)), "count")},
        )  # fmt: skip
        return TableOverrides(columns, self.separator, self.header)

    def _check_no_namespaces(self, spec: InputSpec) -> None:
        for name in _OF_NAMESPACES:
            given = getattr(self, name)
            if given and (name != "quadratic" or not all("*" in each for each in given)):
                said = f" is for the namespaces of vw, and the files are {spec.format}"
                raise InputError(
                    Parameter(name), said, *(_IN_TABLES[name] if spec.columns is not None else ())
                )
        if self.ignore and spec.columns is None:
            raise InputError(Parameter("ignore"), f" is for tables and vw, and the files are {spec.format}")

    def _check_no_table(self, format_: str, *, crosses: bool) -> None:
        """Refuse what would otherwise be ignored."""
        for each in fields(self):
            if each.name in _OF_TABLES and getattr(self, each.name) != each.default:
                raise InputError(Parameter(each.name), f" is for tables, and the files are {format_}")
        if (self.interactions or self.quadratic) and not crosses:
            given = Parameter("interactions" if self.interactions else "quadratic")
            raise InputError(given, f" needs namespaces or columns, and the files are {format_}")
        if not all(name == ANYTHING or is_number(name) for name in self.label_names or ()):
            labels = Parameter("labels", ",".join(self.label_names or ()))
            raise InputError(labels, f": the labels of {format_} are numbers")


def parse_characters(text: str) -> tuple[int, int]:
    """Lengths of runs of characters: `3` or `3-5`."""
    least, _, most = text.partition("-")
    if not least.isdigit() or not (most or least).isdigit():
        raise ValueError(f"{text!r} is not of the form 3 or 3-5")
    return int(least), int(most or least)


def _tidy(name: str, value: Any) -> Any:
    """A keyword argument as the command line would have it: columns by name or number, one without a list."""
    if name == "characters" and isinstance(value, int | str):
        return parse_characters(str(value))
    if name in _LISTS or (name == "labels" and not isinstance(value, str) and value is not None):
        return tuple(map(str, [value] if isinstance(value, str | int) else value))
    return str(value) if name in _COLUMNS and isinstance(value, int) else value
