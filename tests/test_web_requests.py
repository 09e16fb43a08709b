"""Which requests are answered."""

import pytest

from steelyard._web_requests import LOOPBACK, refusal


def why(names: frozenset[str] | None = LOOPBACK, **fields: str | list[str]) -> str | None:
    found = {
        name.replace("_", "-"): [value] if isinstance(value, str) else value for name, value in fields.items()
    }
    return refusal(lambda name: found.get(name, []), names)


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:80", "127.0.0.1:8765", "[::1]", "[::1]:9"],
)  # fmt: skip
def test_own_names(host: str) -> None:
    assert why(host=host) is None
    assert why(host=host, origin=f"http://{host}", sec_fetch_site="same-origin") is None
    assert why(host=host, sec_fetch_site="none") is None


@pytest.mark.parametrize(
    "host",
    [
        "localhost:80@evil.com", "evil.com@localhost", "localhost:80:80", "localhost:", "localhost:x", "::1",
        "[::1", "[localhost]", "localhost/", "localhost:80/x", "localhost#", "localhost, localhost",
        "local host", "", " ", "localhost\n", "evil.com", "127.0.0.1.evil.com:80", "[::2]:80", "localhost.",
        "127.0.0.1:999999",
        ["localhost", "localhost"], ["localhost", "evil.com"], [],
    ],
)  # fmt: skip
def test_other_names(host: str | list[str]) -> None:
    assert why(host=host) is not None


def test_an_address_for_everybody_has_any_name() -> None:
    assert why(None, host="cluster.example:8765") is None
    assert why(None, host="cluster.example", origin="https://cluster.example") is None
    assert why(None, host="cluster.example@evil.com") is not None


@pytest.mark.parametrize("names", [LOOPBACK, None])
@pytest.mark.parametrize(
    "origin",
    ["http://evil.com", "null", "", "localhost:80", "http://localhost:81", "http://localhost:80@evil.com",
     ["http://localhost:80", "http://evil.com"]],
)  # fmt: skip
def test_other_sites(origin: str | list[str], names: frozenset[str] | None) -> None:
    assert why(names, host="localhost:80", origin=origin) == "requests from other sites are refused"


@pytest.mark.parametrize("site", ["cross-site", "same-site", ""])
def test_what_browsers_say_of_the_site(site: str) -> None:
    assert why(host="localhost", sec_fetch_site=site) == "requests from other sites are refused"
