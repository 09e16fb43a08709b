"""`steelyard serve`: a model that answers over HTTP until it is stopped."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.help_examples import EXAMPLES
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.http_server import PredictionServer

_MB = 1 << 20


@click.command(epilog=EXAMPLES["serve"])
@options.MODEL
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port; 0 chooses a free one and prints it.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. With any but the default, everybody who can reach it is answered: "
    "there are no passwords.",
)
@click.option(
    "--max-request",
    type=click.FloatRange(0.0, min_open=True),
    default=16.0,
    show_default=True,
    metavar="MB",
    help="The largest request.",
)
@click.option(
    "--max-clients",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    help="How many clients may be connected at once.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a client may take to send a request, or stay silent between two.",
)
@options.OWN_LOSS
def command(
    model: Path, port: int, host: str, max_request: float, max_clients: int, timeout: float, loss: str | None
) -> None:
    """Answer rows over HTTP, until Ctrl-C or SIGTERM.

    POST lines to /predict, and each is answered with a JSON object on a line of its own: label,
    probabilities, prediction; or the error, if the line cannot be read. A model trained on tables takes JSON
    lines with the columns as keys: a row that lacks some gets a list of them, "missing", and one that has
    none gets an error. A model of Vowpal Wabbit text or svmlight takes that. GET /health answers with the
    status and the columns. If the model's file is replaced, the new one answers from the next request on.
    """
    from steelyard.cli.http_server import PredictionServer
    from steelyard.cli.served_model import ServedModel

    with options.errors():
        served = ServedModel(model, loss, _tell)
        served.warm_up()
        limits = {"most_bytes": int(max_request * _MB), "most_clients": max_clients}
        try:
            server = PredictionServer((host, port), served, timeout=timeout, **limits)
        except OSError as error:
            raise InputError(f"{host}, port {port}: {error.strerror}; --port 0 takes a free one") from None
        with server, _stopped_by_signals(server):
            _tell(f"{model} answers {served.format} lines at {server.url}/predict; Ctrl-C stops it")
            server.serve_forever(poll_interval=0.1)
            server.drain()
    _tell(f"stopped after {server.answered:,} requests")


@contextmanager
def _stopped_by_signals(server: "PredictionServer") -> Iterator[None]:
    """The first signal lets requests end that have begun; a second ends the process."""

    before: dict[signal.Signals, Any] = {
        each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)
    }

    def stop(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        threading.Thread(target=server.shutdown, name="steelyard-stop").start()

    for each in before:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _tell(line: str) -> None:
    click.echo(line, err=True)
