"""The words of a text and their keys, many at once: a word is a run of letters and digits.

A loop over the bytes of a word ends where the processor does not expect it, almost every time. So a window of
the text is first copied in lower case, and a mask of its letters tells where all words begin and end. Then
every word of up to 16 bytes is loaded as four pieces, with zeros behind its end. Mixing in a piece of zeros
changes nothing but for the rotation, which is left out: so all words take the same steps, and the compiler
hashes several at once. Numbers and longer words are hashed one by one, as is a word that a window cuts.
"""

import numpy as np

from steelyard.native.declare import helper, part
from steelyard.text import hashing
from steelyard.text.byte_kinds import FIRST_CAPITAL, LAST_CAPITAL, SMALL_LETTERS, TO_SMALL
from steelyard.text.structs import Window
from steelyard.text.swar import address, copy_kept, letters, population, trailing_zeros

MOST = 16  # words in a row
WINDOW = 2048  # bytes; what is known of them stays in the nearest cache
_STRIDE = 64  # bytes that are looked at together
_EDGES = 24  # beginnings and ends in a stride: a number of steps that is mostly enough, and always the same
_SHORT = 16  # bytes of a word that is hashed together with others

_KEPT = np.array([255] * _SHORT + [0] * _SHORT, np.uint8)  # from 16 − n on: a mask for n bytes
_NO_DIGITS = np.uint32(0xC0C0C0C0)  # bits that letters have, but digits have not
_ONE, _TWO, _FOUR = np.uint64(1), np.uint64(2), np.uint64(4)


def new_window() -> Window:
    """A window that may hold anything."""
    most = WINDOW // 2 + 2
    pieces = np.empty(_SHORT * most, np.uint8)
    return Window(
        np.empty(WINDOW + _STRIDE, np.uint8), np.empty(WINDOW + _STRIDE + _EDGES, np.int32),
        pieces, pieces.view(np.uint32), np.empty(most, np.uint32), np.empty(most, np.int32),
        np.empty(MOST + most, np.uint32), np.empty(MOST + most, np.int32), np.empty(MOST + most, np.int32),
        np.empty(most, np.uint32),
    )  # fmt: skip


@part
def add_words(text, start, end, seed, field, origin, most, single, count, window, features):
    """Add the words of text[start:end], each followed by the runs of 2 to `most` words that end with it.

    Returns the new number of features. `single`: each has the value 1; else values are left to the caller.
    """
    lowered, edges, pieces, fours, odd, special, keys, begins, stops, _grams = window
    named = len(features[-1]) > 0
    found = np.int64(0)
    i, end = np.int64(start), np.int64(end)
    while i < end:
        size = min(end - i, np.int64(WINDOW))
        if i + size + _STRIDE > len(text):  # never look behind the text
            size = min(size, (len(text) - i) // _STRIDE * _STRIDE)
        new, after = _find(text, i, size, size == end - i, lowered, edges)
        _load(lowered, edges, new, pieces)
        _hash(edges, fours, new, seed, keys, odd)
        for k in range(_list(odd, new, special)):
            place = np.int64(special[k])
            first, last = np.int64(edges[2 * place]), np.int64(edges[2 * place + 1])
            keys[MOST + place] = hashing.key_at(address(lowered), first, last, np.int64(seed))
        for k in range(np.uint64(new if named else 0)):
            begins[np.uint64(MOST) + k] = i + edges[_TWO * k]
            stops[np.uint64(MOST) + k] = i + edges[_TWO * k + _ONE]
        i += after
        if i < end:
            key, begin, i = _next_word(text, i, end, seed)
            keys[MOST + new], begins[MOST + new], stops[MOST + new] = key, begin, i
            new += begin < i
        count = _put(new, found, seed, field, origin, most, single, count, window, features)
        found += new
    return count


@part
def _find(text, start, size, whole, lowered, edges):
    """Copy text[start:start + size] in lower case, and find its words.

    `edges` gets the beginning and the end of each. Returns (how many, where to go on). A word that reaches
    the end may be cut, unless that is the end of the whole text: there one goes on.
    """
    for k in range(np.uint64(size)):
        c = text[np.uint64(start) + k]
        lowered[k] = c + TO_SMALL if (c >= FIRST_CAPITAL) & (c <= LAST_CAPITAL) else c
    count = np.int64(0)
    before = np.uint64(0)
    bytes_at = address(text)
    for at in range(np.int64(0), size, _STRIDE):
        inside = letters(bytes_at, start + at)
        if size - at < _STRIDE:
            inside &= (_ONE << np.uint64(size - at)) - _ONE
        changes = inside ^ (inside << _ONE | before)
        before = inside >> np.uint64(_STRIDE - 1)
        total = np.int64(population(changes))
        for k in range(_EDGES):
            edges[count + k] = at + np.int64(trailing_zeros(changes))
            changes &= changes - _ONE
        for k in range(_EDGES, total):
            edges[count + k] = at + np.int64(trailing_zeros(changes))
            changes &= changes - _ONE
        count += total
    if before:
        edges[count] = size
        count += 1
    cut = not whole and count > 0 and edges[count - 1] == size
    return (count >> 1) - cut, np.int64(edges[count - 2]) if cut else size


@part
def _load(lowered, edges, count, pieces):
    """Write the first 16 bytes of each word, filled up with zeros."""
    bytes_at, kept, out = address(lowered), address(_KEPT), address(pieces)
    for k in range(np.uint64(count)):
        begin = np.int64(edges[_TWO * k])
        short = min(np.int64(edges[_TWO * k + _ONE]) - begin, np.int64(_SHORT))
        copy_kept(bytes_at, begin, kept, _SHORT - short, out, np.int64(_SHORT) * np.int64(k))


@part
def _hash(edges, pieces, count, seed, keys, odd):
    """The murmur3 hashes of words of up to 16 bytes; `odd` tells which words are numbers or longer."""
    for k in range(np.uint64(count)):
        size = np.uint32(edges[_TWO * k + _ONE] - edges[_TWO * k])
        h = np.uint32(seed)
        seen = np.uint32(0)
        for piece in range(4):
            four = pieces[_FOUR * k + np.uint64(piece)]
            seen |= four
            h = np.uint32(h ^ hashing.mix_k1(four))
            h = hashing.mix_h1(h) if size >= np.uint32(4 * piece + 4) else h
        keys[np.uint64(MOST) + k] = hashing.fmix32(np.uint32(h ^ size))
        odd[k] = np.uint32((seen & _NO_DIGITS == np.uint32(0)) | (size > np.uint32(_SHORT)))


@part
def _list(odd, count, special):
    """Write which words are marked; returns how many."""
    found = np.int64(0)
    for k in range(np.uint64(count)):
        special[found] = k
        found += np.int64(odd[k])
    return found


@helper
def _next_word(text, i, end, seed):
    """The next word from i on, byte by byte: (key, beginning, end; both `end` if there is none)."""
    while i < end and SMALL_LETTERS[text[i]] == 0:
        i += 1
    begin = i
    h, k, seen = np.int64(seed), np.int64(0), np.int64(0)
    while i < end and SMALL_LETTERS[text[i]] != 0:
        c = np.int64(SMALL_LETTERS[text[i]])
        shift = (i - begin & 3) << 3
        k |= c << shift
        seen |= c
        if shift == 24:
            h, k = hashing.mix(h, k), np.int64(0)
        i += 1
    if seen & 0xC0:
        return hashing.finish(h, k, i - begin), begin, i
    return hashing.key(text, begin, i, seed), begin, i


@part
def _put(new, found, seed, field, origin, most, single, count, window, features):
    """Write the features of `new` words, before which there were `found` in this text."""
    _lowered, _edges, _pieces, _fours, _odd, _special, words, begins, ends, grams = window
    keys, values, fields, starts, stops, origins = features
    total = offset(found + new, most) - offset(found, most)
    for k in range(np.uint64(count), np.uint64(count + total if single else count)):
        values[k] = 1.0
    for k in range(np.uint64(count), np.uint64(count + total if len(fields) > 0 else count)):
        fields[k] = field
    named = len(starts) > 0
    for k in range(np.uint64(count), np.uint64(count + total if named else count)):
        origins[k] = origin
    if most == 1:
        at, behind = np.uint64(count), np.uint64(MOST)
        for k in range(np.uint64(new)):
            keys[at + k] = words[behind + k]
        for k in range(np.uint64(new if named else 0)):
            starts[at + k] = begins[behind + k]
        for k in range(np.uint64(new if named else 0)):
            stops[at + k] = ends[behind + k]
        return count + total
    for size in range(1, most + 1):
        _hash_grams(size, new, seed, words, grams)
        # the first words of a text have fewer before them
        for k in range(max(size - 1 - found, np.int64(0)), new):
            place = count + offset(found + k, most) - offset(found, most) + size - 1
            keys[place] = words[MOST + k] if size == 1 else grams[k]
            if named:
                starts[place], stops[place] = begins[MOST + k + 1 - size], ends[MOST + k]
    for k in range(MOST):
        words[k], begins[k] = words[new + k], begins[new + k]
    return count + total


@part
def _hash_grams(size, count, seed, words, grams):
    """The keys of `size` words in a row, as if each had been written with four bytes."""
    for k in range(np.uint64(count)):
        grams[k] = seed
    for w in range(MOST + 1 - size, MOST + 1):
        for k in range(np.uint64(count)):
            grams[k] = hashing.mix_h1(np.uint32(grams[k] ^ hashing.mix_k1(words[np.uint64(w) + k])))
    for k in range(np.uint64(count)):
        grams[k] = hashing.fmix32(np.uint32(grams[k] ^ np.uint32(4 * size)))


@part
def offset(words, most):
    """How many features there are of the first words of a text."""
    return words * (words + 1) // 2 if words < most else words * most - most * (most - 1) // 2
