"""Random damage of texts and of JSON, and the parts that hurt most."""

import copy
import json
import math
from random import Random
from typing import Any

NASTY = [
    b'"', b'""', b"\\", b"{", b"}", b"[", b"]", b",", b";", b"\t", b"\r", b":", b" ", b"\0", b"\xff",
    b"\xc3\xa9",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x0b", b"\\ud83d\\ude00", b"\\ud800", b"\\u0000", b"null", b"true",
    b"NaN", b"-Infinity", b"nan", b"inf", b"1e308", b"1e-400", b"1e17", b"-0", b"00", b"1_0", b"0x1p3", b".5",
    b"5.", b"+1", b"1e", b"-", b"9" * 30, b"0" * 30 + b"1", b"1." + b"3" * 40, b"__label__",
    b"__label__a ", b"NA",
]  # fmt: skip
VALUES: list[Any] = [
    math.inf, math.nan, -1, 0, 1, 2, 0.5, 10**6, 10**12, 10**30, 2**63, -(2**63) - 1, 1e308, -1e308, "", "x",
    "\x1b[31m", "<script>", "../../x", "\ud800", [], {}, None, True, False, [1], [[1]], {"a": 1}, ["x", None],
]  # fmt: skip


def damage(data: bytes, others: list[bytes], chance: Random) -> bytes:
    """A few changes at random places of a line or a file."""
    text = bytearray(data)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 4])):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.randrange(1, 12))
        match chance.randrange(6):
            case 0:
                text[at:at] = chance.choice(NASTY)
            case 1:
                text[at:to] = b""
            case 2:
                text[at:at] = text[at:to] * chance.choice([1, 1, 1, 20])
            case 3:
                text[at : at + 1] = bytes([chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])])
            case 4:
                text[at:to] = chance.choice(NASTY)
            case _:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                text[at:to] = other[start : start + chance.randrange(30)]
    return bytes(text)


def damaged_json_text(content: Any, chance: Random) -> bytes:
    """A structure as JSON, in which values are damaged, or now and then bytes."""
    if chance.random() < 0.2:
        text = json.dumps(content).encode()
        return damage(text, [text], chance)
    return json.dumps(damage_json(content, chance)).encode()


def damage_json(content: Any, chance: Random) -> Any:
    """One or two values of a structure are replaced, removed, repeated or swapped."""
    changed = {"": copy.deepcopy(content)}  # so that the whole has a place, too
    for _ in range(chance.choice([1, 1, 2])):
        places = list(_places(changed, chance))
        holder, key = chance.choice(places)
        match chance.randrange(8):
            case 0 if key != "":
                del holder[key]
            case 1 if isinstance(holder[key], list) and holder[key]:
                holder[key].append(copy.deepcopy(chance.choice(holder[key])))
            case 2 if isinstance(holder[key], list) and holder[key]:
                holder[key].pop()
            case 3:
                other, at = chance.choice(places)
                holder[key] = copy.deepcopy(other[at])
            case 4 if isinstance(holder[key], int | float):
                holder[key] += chance.choice([-1, 1, 0.5])
            case _:
                holder[key] = copy.deepcopy(chance.choice(VALUES))
    return changed[""]


def _places(content: Any, chance: Random) -> Any:
    """Every place of a structure; of long lists a few."""
    keys = list(content) if isinstance(content, dict) else list(range(len(content)))
    for key in keys if len(keys) < 30 else chance.sample(keys, 10):
        yield content, key
        if isinstance(content[key], dict | list):
            yield from _places(content[key], chance)
