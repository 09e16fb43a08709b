"""JSON whose texts can be written again: one half of a surrogate pair, as in "\\ud800", is in no encoding."""

import json
import re
from typing import Any

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def loads(text: str | bytes) -> Any:
    """The value of a JSON text, in which U+FFFD takes the place of such halves."""
    value = json.loads(text)
    if _SURROGATE.search(text if isinstance(text, str) else text.decode()):
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(whole.decode("utf-16", "replace"))
    return value
