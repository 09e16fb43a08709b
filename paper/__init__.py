"""The experiments of "Online Importance Weight Aware Updates" (Karampatziakis & Langford, 2011), run anew.

    python -m paper            the full run
    python -m paper --quick    a few minutes

A *study* is a section of the report: it lists its steps beforehand, and describes their results. A *step* is
a piece of work whose rows are saved in a CSV file; finished steps are never computed again. Studies use only
the public parts of `steelyard`.
"""
