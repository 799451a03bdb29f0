"""Write a leaderboard of runs, as `dhp leaderboard` does.

Run it from anywhere: python scripts/make_leaderboard.py RUN... --out site/
"""

import sys

from dhp.cli.main import main

if __name__ == "__main__":
    main(["leaderboard", *sys.argv[1:]], program="make_leaderboard.py")
