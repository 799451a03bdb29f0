"""`python -m dhp.benchmark`: the same as `dhp benchmark`."""

import sys

from dhp.cli.main import main

if __name__ == "__main__":
    main(["benchmark", *sys.argv[1:]], program="python -m dhp")
