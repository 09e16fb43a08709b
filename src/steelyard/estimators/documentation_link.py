"""`DocumentationLink`: the question mark in the HTML picture of an estimator leads to its page."""

from functools import cache
from importlib import metadata


class DocumentationLink:
    """`_page` is a page of the documentation whose address the package names; without one, no link."""

    _page = "estimators"

    def _get_doc_link(self) -> str:
        address = _address()
        return f"{address.rstrip('/')}/{self._page}/" if address else ""


@cache
def _address() -> str:
    try:
        named = metadata.metadata("steelyard").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from a folder
        named = []
    addresses: dict[str, str] = dict(entry.split(", ", 1) for entry in named)
    return addresses.get("Documentation", "")
