"""pyarrow, which is an extra and takes a while to import: only when an Arrow table is met."""

from typing import Any


def pyarrow(what: str) -> Any:
    """The module; `what` is to be read or written with it."""
    try:
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f'{what}: Arrow and Parquet need pyarrow: pip install "steelyard[arrow]"') from None
    return pyarrow
