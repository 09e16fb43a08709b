"""Keys of single names. (The names in files are hashed where they are parsed.)

>>> key("price"), key("17"), key("17", "shop")
(3888873998, 17, 3145125641)
"""

import numpy as np

from steelyard.text import hashing


def key(name: str, namespace: str = "") -> int:
    """The 32-bit key of a name. A name made of digits is that number, plus the key of the namespace."""
    seed = key(namespace) if namespace else 0
    text = np.frombuffer(name.encode(), np.uint8)
    with np.errstate(over="ignore"):
        return int(hashing.key(text, 0, len(text), seed))


def column_key(name: str) -> int:
    """The key of a column of a table: always a hash, or category 4 of column 1 would be the number column 5.

    >>> column_key("price") == key("price"), column_key("17") == key("17")
    (True, False)
    """
    text = np.frombuffer(name.encode(), np.uint8)
    with np.errstate(over="ignore"):
        return int(hashing.murmur(text, 0, len(text), 0))
