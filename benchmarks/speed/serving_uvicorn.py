"""`serve` beside uvicorn with h11, a server for all of HTTP: `python -m benchmarks.speed.serving_uvicorn`.

Both answer the same requests by the same model, in turns; medians over the turns are written into
docs/serving.md. It decided which of them `serve` is.
"""

import asyncio
import socket
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.speed.serving import PAGE, http_rows, lines, requests, serve_command, served, train
from benchmarks.support import sections

_RATE = 2  # where a row of `http_rows` has requests a second


def answer_by_uvicorn(model: Path) -> None:
    """Serve as `steelyard serve` does, apart from its limits."""
    import uvicorn

    from steelyard.cli.served_model import ServedModel

    found, threads = ServedModel(model, None, click.echo), ThreadPoolExecutor()
    found.warm_up()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(threads, lambda: b"".join(found.answer(body)))
        size = str(len(answer)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", size)]})
        await send({"type": "http.response.body", "body": answer})

    # With the protocol named, small packets are sent at once.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        click.echo(f":{listening.getsockname()[1]}/predict", err=True)
        config = uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_level="critical")
        uvicorn.Server(config).run(sockets=[listening])


def compare(model: Path, rows: list[bytes], turns: int, seconds: float) -> list[list[str]]:
    """Rows of a table: requests a second of both, and the ratio."""
    rates: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    with ExitStack() as servers:
        theirs = [sys.executable, "-m", "benchmarks.speed.serving_uvicorn", "--serve", str(model)]
        ports = [servers.enter_context(served(each)) for each in (serve_command(model), theirs)]
        for port in ports:
            requests(port, rows[:50])
        for _ in range(turns):
            for which, port in enumerate(ports):
                for found in http_rows(port, rows, seconds):
                    kind = rates.setdefault((found[0], found[1]), ([], []))
                    kind[which].append(float(found[_RATE].replace(",", "")))
    return [
        [*kind, f"{median(ours):,.0f}", f"{median(theirs):,.0f}", f"{median(theirs) / median(ours):.2f}"]
        for kind, (ours, theirs) in rates.items()
    ]


@click.command()
@click.option("--turns", default=7, show_default=True, help="How often each server is measured.")
@click.option("--seconds", default=1.0, show_default=True, help="For each row of the table in a turn.")
@click.option("--rows", default=20_000, show_default=True, help="Different rows.")
@click.option(
    "--page", type=click.Path(path_type=Path), default=PAGE, show_default=True, help="Where to write."
)
@click.option("--serve", type=click.Path(path_type=Path), help="Only answer by uvicorn, by this model.")
def main(turns: int, seconds: float, rows: int, page: Path, serve: Path | None) -> None:
    """Measure both, and write the table into the page."""
    if serve is not None:
        answer_by_uvicorn(serve)
        return
    with tempfile.TemporaryDirectory(prefix="steelyard-serving-") as folder:
        data = lines(rows)
        model = train(Path(folder), data)
        found = compare(model, data, turns, seconds)
    heads = ["clients", "lines a request", "serve, requests/s", "uvicorn, requests/s", "ratio"]
    text = f"{sections.table(heads, found)}\n\nMedians of {turns} turns of {seconds:g} s."
    sections.write(page, "benchmarks.speed.serving_uvicorn", text)
    click.echo(text)


if __name__ == "__main__":
    main()
