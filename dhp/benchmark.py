"""`python -m dhp.benchmark`: the same as `dhp benchmark`."""

import sys

from dhp.__main__ import start

if __name__ == "__main__":
    start(["benchmark", *sys.argv[1:]], program="python -m dhp")
