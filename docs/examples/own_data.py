"""Texts of your own, with a metric of your own: rated here by a mock judge, which no server is needed for."""

import csv
from pathlib import Path

import dhp

if __name__ == "__main__":
    file = Path("tickets.csv")
    with file.open("w", newline="", encoding="utf-8") as table:
        rows = [
            [
                f"Printer X{i} stopped on Monday. Ann wants {20 + i} euros.",
                f"X{i} stopped. Ann asks {20 + i} euros.",
            ]
            for i in range(12)
        ]
        csv.writer(table).writerows([["ticket", "summary"], *rows])
    results = dhp.run(
        "mock/noisy",
        str(file),
        fields={"source": "ticket", "output": "summary"},
        metrics=[dhp.own_metric("usefulness", (1, 10))],
    )
    print(results)
