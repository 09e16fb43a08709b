"""`python -m paper`."""

from paper.command import command
from paper.studies import ALL

if __name__ == "__main__":
    command(ALL)()
