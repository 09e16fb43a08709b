"""Model files: settings, arrays and bytes that were damaged."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from fuzzing.commands import assert_no_rest, documents, must, tried
from fuzzing.text_pieces import damage_json

_TRAIN = {
    "two": ("--label", "quality"),
    "several": ("--label", "language", "--no-calibrate"),
    "normalized": ("--label", "quality", "--scaling", "normalized", "--l1", "1e-6"),
    "auto": ("--label", "quality", "--learning-rate", "auto"),
}


class ModelFiles:
    def __init__(self, folder: Path) -> None:
        self._folder, self._rows = folder, documents(folder)
        self._models = []
        for name, given in _TRAIN.items():
            must("train", self._rows, *given, "--bits", 8, "-o", folder / name)
            self._models.append((folder / name).read_bytes())

    def draw(self, chance: Random) -> bytes:
        data = chance.choice(self._models)
        if chance.random() < 0.25:
            changed = bytearray(data)
            for _ in range(chance.choice([1, 2, 8])):
                changed[chance.randrange(len(data))] = chance.choice([0, 255, 48, 57, chance.randrange(256)])
            return bytes(changed[: chance.choice([len(changed)] * 3 + [chance.randrange(len(changed))])])
        end = 8 + int.from_bytes(data[:8], "little")
        about = json.loads(json.loads(data[8:end])["__metadata__"]["steelyard"])
        arrays = load(data)
        for _ in range(chance.choice([1, 1, 2])):
            if chance.random() < 0.6:
                about = damage_json(about, chance)
            elif arrays:
                _damage_array(arrays, chance)
        return bytes(save(arrays, {"steelyard": json.dumps(about)}))

    def check(self, data: bytes) -> int:
        bad = self._folder / "bad"
        bad.write_bytes(data)
        more = data[-1] % 4
        output = self._folder / "output"
        tried("inspect", bad)
        if more == 0:
            tried("predict", bad, self._rows)
        elif more == 1:
            tried("explain", bad, self._rows, "--row", 1)
        elif more == 2:
            tried("evaluate", bad, self._rows)
        else:
            done = tried("train", self._rows, "--resume", bad, "-o", output)
            assert output.exists() == done
            output.unlink(missing_ok=True)
        assert_no_rest(self._folder)
        return 1


def _damage_array(arrays: dict[str, Any], chance: Random) -> None:
    name = chance.choice(sorted(arrays))
    array = arrays[name]
    match chance.randrange(8):
        case 0:
            changed = array.reshape(1, -1)
        case 1:
            changed = array.astype("f4" if array.dtype != np.float32 else "f8")
        case 2:
            changed = array[: len(array) // 2]
        case 3:
            changed = np.concatenate([array, array])
        case 4:
            changed = array.astype("i8")
        case 5:
            changed = array[::-1]
        case 6:
            changed = array.copy()
            wide = changed.dtype.itemsize >= 4
            values: list[Any] = [0, 1, 127, 2**31 - 1 if wide else 100]
            values = [np.nan, np.inf, 1e30, -1.0] if changed.dtype.kind == "f" else values
            if changed.size:
                changed.reshape(-1)[chance.randrange(changed.size)] = chance.choice(values)
        case _:
            del arrays[name]
            return
    arrays[name] = np.ascontiguousarray(changed)


TARGETS = {"models": ModelFiles}
