"""What a cluster gains and costs: engines side by side on this machine, and a simulation of a large one.

    python -m benchmarks.clusters.engines

Writes its section of docs/clusters.md.
"""

import math
import pickle
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import sections
from steelyard import model_file
from steelyard.distributed.engines import TaskEngine, connect
from steelyard.distributed.plan import Plan
from steelyard.distributed.training import DistributedTraining
from steelyard.engine import file_training
from steelyard.engine.run_options import RunOptions
from steelyard.io.read_options import ReadOptions
from steelyard.losses import by_name
from steelyard.merging.parts import part_of
from steelyard.model import Model, Settings

PAGE = Path(__file__).parents[2] / "docs" / "clusters.md"
ENGINES = ("local:1", "local:2", "ray", "dask")
FILES, ROWS, WORDS = 32, 2_000, 40
REPEATS = 2

# The large cluster: 10⁴ files, 10³ workers, 10 rounds, a network of 10 Gbit/s
WORKERS, LARGE_FILES, ROUNDS, BYTES_A_SECOND = 1_000, 10_000, 10, 1.25e9
FILE_SECONDS, SPREAD, FAILURE = 20.0, 0.3, 0.001
MET = (10**6, 10**7, 10**8, 2**30)


def write_files(folder: Path) -> list[str]:
    rng = np.random.default_rng(1)
    worth = rng.normal(size=50_000)
    for number in range(FILES):
        words = (rng.pareto(0.7, (ROWS, WORDS)) * 10).astype(np.int64) % len(worth)
        labels = np.where(worth[words].sum(axis=1) > 0, 1, -1)
        lines = (
            f"{y} |w {' '.join(map(str, row))}"
            for y, row in zip(labels.tolist(), words.tolist(), strict=True)
        )
        (folder / f"{number:02}.vw").write_text("\n".join(lines) + "\n")
    return sorted(map(str, folder.iterdir()))


def learn(paths: list[str], engine: TaskEngine, parts: int, rounds: int) -> tuple[float, bytes]:
    begun = file_training.begin(
        paths, ReadOptions.from_keywords(names=False), RunOptions(threads=1),
        lambda inferred: [Settings(by_name("modified_huber"))], task="classes",
    )  # fmt: skip
    training = DistributedTraining.begin(begun, Plan.of(paths, parts, rounds))
    began = time.perf_counter()
    content = training.run(engine)
    return time.perf_counter() - began, model_file.as_bytes(content)


def engines_table(paths: list[str]) -> str:
    """Each engine is started and has learned once before it is measured; engines take turns."""
    running = {kind: connect(kind) for kind in ENGINES}
    seconds: dict[tuple[str, int], list[float]] = {}
    models = set()
    for turn in range(REPEATS + 1):
        for kind, engine in running.items():
            for rounds in (1, 4):
                took, model = learn(paths, engine, 8, rounds)
                models.add((rounds, model))
                if turn:
                    seconds.setdefault((kind, rounds), []).append(took)
    for engine in running.values():
        engine.close()
    assert len(models) == 2, "engines disagree"
    medians = {case: statistics.median(each) for case, each in seconds.items()}
    alone = medians["local:1", 1]
    rows = [[kind, *(f"{medians[kind, rounds] / alone:.2f}" for rounds in (1, 4))] for kind in ENGINES]
    return sections.table(["engine", "1 round", "4 rounds"], rows)


def constants() -> tuple[float, float, float]:
    """Bytes that a feature takes in a part and in a model, and seconds to merge it."""
    features = 1 << 20
    models = []
    for seed in range(2):
        model = Model(Settings(by_name("modified_huber")), features)
        rng = np.random.default_rng(seed)
        met = rng.random(features) < 0.7  # not all features are met by both
        model.pairs[met] = (rng.normal(size=features) + 1j)[met]
        model.sums[met] = rng.random(features)[met]
        model.state[0] = 1.0
        models.append(model)
    parts = [part_of(model) for model in models]
    began = time.process_time()
    met_by_both = len(parts[0].merged(parts[1]).features)
    seconds = time.process_time() - began
    size = len(pickle.dumps(parts[0], protocol=5)) / len(parts[0].features)
    stored = len(
        model_file.as_bytes(model_file.ModelFile(model_file.EngineState([models[0].settings], models[:1])))
    )
    return size, stored / len(parts[0].features), seconds / met_by_both


def simulated_round(met: int, costs: tuple[float, float, float], rng: np.random.Generator) -> float:
    """Seconds of one round: parts start when the model has come, and are merged when both are there."""
    part, stored, merge = costs
    files = LARGE_FILES // (WORKERS * ROUNDS)
    arrival = math.ceil(math.log2(WORKERS)) * met * stored / BYTES_A_SECOND
    ready = np.full(WORKERS, arrival)
    failing = np.arange(WORKERS)
    while len(failing):
        sigma = math.sqrt(math.log1p(SPREAD**2))
        took = rng.lognormal(math.log(FILE_SECONDS) - sigma**2 / 2, sigma, (len(failing), files)).sum(axis=1)
        dies = rng.random(len(failing)) < FAILURE
        ready[failing] += np.where(dies, took * rng.random(len(failing)), took)
        failing = failing[dies]
    level: NDArray[np.float64] = ready
    while len(level) > 1:
        paired = np.maximum(level[: len(level) // 2 * 2 : 2], level[1::2])
        level = np.append(paired + met * (part / BYTES_A_SECOND + merge), level[len(level) // 2 * 2 :])
    return float(level[0])


def expected_round(met: int, costs: tuple[float, float, float]) -> float:
    """The formula of the page. A typical part that is repeated is still no later than the slowest."""
    part, stored, merge = costs
    files, depth = LARGE_FILES // (WORKERS * ROUNDS), math.ceil(math.log2(WORKERS))
    learning = files * FILE_SECONDS
    sigma = math.sqrt(math.log1p(SPREAD**2 / files))
    largest = statistics.NormalDist().inv_cdf(0.5264 ** (1.0 / WORKERS))
    slowest = learning * math.exp(sigma * largest - sigma**2 / 2)
    return slowest + depth * met * ((part + stored) / BYTES_A_SECOND + merge)


def large_table(costs: tuple[float, float, float]) -> str:
    rng = np.random.default_rng(1)
    rows = []
    for met in MET:
        found = statistics.mean(simulated_round(met, costs, rng) for _ in range(200))
        moved = WORKERS * met * (costs[0] + costs[1])
        rows.append([
            f"{met:,}", f"{met * costs[1] / 1e9:,.2f} GB", f"{moved / 1e9:,.0f} GB",
            f"{expected_round(met, costs):,.0f} s", f"{found:,.0f} s", f"{ROUNDS * found / 60:,.0f} min",
        ])  # fmt: skip
    return sections.table(
        ["features met", "model", "moved in a round", "a round, formula", "a round, simulated", "pass"], rows
    )


def write_engines() -> None:
    with tempfile.TemporaryDirectory() as folder:
        engines = engines_table(write_files(Path(folder)))
    text = f"""### Engines on one machine

Seconds against `local:1`, which learns part after part in one process: {FILES} files of {ROWS:,} rows,
8 parts, two cores, the median of {REPEATS} runs that take turns, without the start of the engine. All four
make the same model, bit for bit.

{engines}
"""
    sections.write(PAGE, "benchmarks/clusters/engines.py, engines", text)


def write_large() -> None:
    costs, alone = constants(), LARGE_FILES * FILE_SECONDS / 3600
    text = f"""### A large cluster

{LARGE_FILES:,} files that take {FILE_SECONDS:g} s each (their spread is {SPREAD:.0%}), which are
{alone:.0f} hours for one worker; {WORKERS:,} workers, {ROUNDS} rounds, a network of 10 Gbit/s, and a
worker that dies once in {1 / FAILURE:,.0f} tasks. Measured on one machine: a feature takes
{costs[0]:.0f} bytes in a part,
{costs[1]:.0f} in a model without names, and {1e9 * costs[2]:.0f} ns to merge.
Workers, network and deaths are simulated, the mean of 200 rounds.

{large_table(costs)}
"""
    sections.write(PAGE, "benchmarks/clusters/engines.py, large", text)


if __name__ == "__main__":
    write_engines()
    write_large()
