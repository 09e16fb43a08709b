"""Time: how long the process has been running, so that starting up can be told apart from learning."""

import os
import time
from pathlib import Path


def since_start() -> float:
    """Seconds since this process began; where the system does not say, the processor time it has used."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - float(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, IndexError, ValueError):
        return time.process_time()
