"""`python -m dhp`: the `dhp` command."""

from dhp.cli.main import main

if __name__ == "__main__":
    main(program="python -m dhp")
