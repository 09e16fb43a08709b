"""`steelyard report`: one page about a model and labelled rows, which needs no other file and no network."""

BEGINNING = b'<!doctype html>\n<meta name="generator" content="steelyard">\n'
"""Of every page that we write, by which it is known as ours."""
