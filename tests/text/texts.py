"""Lines of text to draw from: good ones, odd ones, and bytes that are anything."""

from hypothesis import strategies as st

numbers = st.one_of(
    st.integers(-50, 50).map(str),
    st.floats(-1e6, 1e6, allow_nan=False).map(repr),
    st.sampled_from(["0.5", "1e-3", "-.25", "7.", "1E2", "3.9656971e-02"]),
)
bad_numbers = st.sampled_from(["x", "1x", "--2", "nan", "inf", "1e400", "", "1e18", "0x3"])
names = st.one_of(
    st.text("abcXYZ019_^*/é汉", min_size=1, max_size=6), st.integers(0, 10**11).map(str), st.just("")
)
gaps = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def vw_line(draw: st.DrawFn, wrong: bool = False) -> bytes:
    number = st.one_of(numbers, bad_numbers) if wrong else numbers
    head = [draw(number) for _ in range(draw(st.integers(0, 4 if wrong else 3)))]
    if len(head) > 1 and not wrong:
        head[1] = head[1].lstrip("-")
    tag = draw(st.sampled_from(["", "'tag ", "'", "tag", "'x"]))
    parts = [draw(gaps).join(head) + (draw(gaps) if head else ""), tag]
    for _ in range(draw(st.integers(0 if wrong else 1, 3))):
        space = draw(st.one_of(st.just(""), names))
        weight = ":" + draw(number) if space and draw(st.booleans()) else ""
        parts.append("|" + space.replace("|", "") + weight)
        for _ in range(draw(st.integers(0, 4))):
            value = ":" + draw(number) if draw(st.booleans()) else ""
            name = draw(names)
            parts.append(draw(gaps) + (name if name or value else "a") + value)
    return ("".join(parts) + draw(st.sampled_from(["", " ", "\r"]))).encode()


@st.composite
def svmlight_line(draw: st.DrawFn, wrong: bool = False) -> bytes:
    number = st.one_of(numbers, bad_numbers) if wrong else numbers
    words = [draw(number)]
    if draw(st.booleans()):
        words.append("qid:3")
    features = st.tuples(st.integers(0, 10**10), number).map(lambda pair: f"{pair[0]}:{pair[1]}")
    words += draw(st.lists(features, max_size=5))
    comment = draw(st.sampled_from(["", " # a comment", "#"]))
    return (draw(gaps).join(words) + comment + draw(st.sampled_from(["", " ", "\r"]))).encode()


def block(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)
