"""Measurements beside the peers, and of what the documentation claims.

One thread for the libraries of linear algebra: others of theirs go on spinning for a while after a call, and
would be counted to whoever is timed next.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
