"""The experiments of "Online Importance Weight Aware Updates" (Karampatziakis & Langford, 2011), run anew.

    python -m paper            all of it
    python -m paper --quick    a few minutes

A *study* is a part of the report: it names its steps beforehand, and tells what came of them. A *step* is a
piece of work whose rows are kept in a CSV file; what is finished is never done again. Studies use what
`steelyard` shows to everybody, and nothing else of it.
"""
