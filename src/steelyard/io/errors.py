"""The one exception of the readers."""


class InputError(ValueError):
    """Input that cannot be read: what, where and what to do."""
