"""Cut the power of a machine that writes to the store: what is left opens and holds no wrong reply.

    python scripts/power_cut.py [--cuts 500] [--seed 0]

One process writes replies to a store while `strace` takes down each write and each sync. A power cut is any
moment of that: what was synced is on disk; of what was written since, each sector of 512 bytes is there or
not, by chance. The store is put together again like that, opened and read. Exits with 1 for a store that does
not open, is not sound, cannot be written, or gives another reply than the one that went in.
"""

import argparse
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dhp.core.seeding import stream
from dhp.llm.records import Reply
from dhp.llm.store import FILE, Store, rows

BATCHES, BATCH, SECTOR = 150, 8, 512
COUNTER = "added"
"""File that gets one byte for each batch that was added."""
CALLS = "openat,pwrite64,write,ftruncate,fsync,fdatasync,unlink,close"
_LINE = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += (-?\d+)")
_DATA = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def reply(number: int) -> Reply:
    """The reply that goes in under a number; long enough that the log is moved into the file now and then."""
    return Reply(f"{number} " + "x" * (number * 37 % 3000), "stop", number, 1, 1, None)


def key(number: int) -> bytes:
    """Its key in the store."""
    return number.to_bytes(32, "big")


def fill(path: Path) -> None:
    """Write all replies, as a run does."""
    store = Store(path)
    path.parent.mkdir()
    with path.with_name(COUNTER).open("wb", buffering=0) as counter:
        for batch in range(BATCHES):
            numbers = range(batch * BATCH, (batch + 1) * BATCH)
            store.add(rows({n: key(n) for n in numbers}, "m", "e", {n: reply(n) for n in numbers}, "r"))
            counter.write(b".")
    store.release()


@dataclass
class File:
    """What is on disk of a file, and what may be."""

    synced: bytearray = field(default_factory=bytearray)
    since: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes since the last sync: offset and data; no data stands for a cut at this length."""

    def sync(self) -> None:
        """Everything written is on disk."""
        for offset, data in self.since:
            apply(self.synced, offset, data)
        self.since.clear()

    def after_a_cut(self, rng: np.random.Generator) -> bytes:
        """One of the contents that a power cut may leave."""
        left = bytearray(self.synced)
        share = rng.random()
        for offset, data in self.since:
            if data is None:
                if rng.random() < share:
                    apply(left, offset, None)
                continue
            for start in range(0, len(data), SECTOR):
                if rng.random() < share:
                    apply(left, offset + start, data[start : start + SECTOR])
        return bytes(left)


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    """Write data at an offset, or cut the content there."""
    if data is None:
        del content[offset:]
        content.extend(bytes(max(0, offset - len(content))))
        return
    content.extend(bytes(max(0, offset + len(data) - len(content))))
    content[offset : offset + len(data)] = data


def calls(trace: Path) -> Iterator[tuple[str, str, int]]:
    """Name, arguments and result of each call that succeeded."""
    for line in trace.read_text().splitlines():
        found = _LINE.match(line)
        if found and int(found[3]) >= 0:
            yield found[1], found[2], int(found[3])


def disk_after_each_call(trace: Path, folder: Path) -> Iterator[tuple[dict[str, File], int]]:
    """The files of a folder after each call that changes one, and how many replies were added by then."""
    files: dict[str, File] = {}
    open_as: dict[int, str] = {}
    added = 0
    for name, arguments, result in calls(trace):
        if name in ("openat", "unlink"):
            path = Path(bytes.fromhex(_DATA.findall(arguments)[0].replace("\\x", "")).decode())
            mine = path.parent == folder and not path.name.endswith("-shm")  # which a restart leaves empty
            if name == "unlink":
                files.pop(path.name, None)
            elif mine:
                open_as[result] = path.name
                files.setdefault(path.name, File())
            else:
                open_as.pop(result, None)
            continue
        opened = open_as.get(int(arguments.partition(",")[0]), "")
        if opened == COUNTER and name == "write":
            added += BATCH
        elif opened in files:
            if name == "pwrite64":
                data = bytes.fromhex(_DATA.findall(arguments)[0].replace("\\x", ""))
                files[opened].since.append((int(arguments.rsplit(", ", 1)[1]), data))
            elif name == "ftruncate":
                files[opened].since.append((int(arguments.rsplit(", ", 1)[1]), None))
            elif name in ("fsync", "fdatasync"):
                files[opened].sync()
            yield {name: file for name, file in files.items() if name != COUNTER}, added


def check(contents: dict[str, bytes], added: int) -> tuple[str, int]:
    """What is wrong with a store that was left like this, if anything, and how many replies it lost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in contents.items():
            (folder / file).write_bytes(content)
        store = Store(folder / FILE)
        try:
            found = {n: store.find({0: key(n)}) for n in range(BATCHES * BATCH)}
            store.add(rows({0: key(10**6)}, "m", "e", {0: reply(1)}, "r"))
            store.release()
            with sqlite3.connect(folder / FILE) as connection:
                sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        except Exception as e:  # noqa: BLE001  any other exception is what this looks for
            return f"{type(e).__name__}: {e}", 0
        if sound != "ok":
            return f"not sound: {sound}", 0
        wrong = [n for n, kept in found.items() if kept and kept[0][0] != reply(n)]
        if wrong:
            return f"another reply under {wrong[0]}", 0
        return "", added - sum(map(bool, found.values()))


def main() -> None:
    """Write, cut, read, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fill", type=Path, help="write the replies to this store, and nothing else")
    options = parser.parse_args()
    if options.fill:
        return fill(options.fill)
    with tempfile.TemporaryDirectory() as name:
        folder, trace = Path(name) / "store", Path(name) / "trace"
        command = ["strace", "-f", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", str(trace)]
        subprocess.run([*command, sys.executable, __file__, "--fill", str(folder / FILE)], check=True)
        moments = sum(1 for _ in disk_after_each_call(trace, folder))
        rng = stream("power cut", options.seed)
        cuts = sorted(rng.sample(range(moments), min(options.cuts, moments)))
        faults, lost = report(disk_after_each_call(trace, folder), set(cuts), options.seed)
    print(f"{len(cuts)} power cuts in {moments:,} writes and syncs: {faults} faults; of {BATCHES * BATCH}")
    print(f"replies a cut lost {np.median(lost):.0f} as the median, at most {max(lost)}")
    raise SystemExit(1 if faults else 0)


def report(states: Iterator[tuple[dict[str, File], int]], cuts: set[int], seed: int) -> tuple[int, list[int]]:
    """Number of faults, each printed, and the replies that each cut lost."""
    faults, lost = 0, []
    for moment, (files, added) in enumerate(states):
        if moment in cuts:
            rng = np.random.default_rng([seed, moment])
            fault, missing = check({name: f.after_a_cut(rng) for name, f in files.items()}, added)
            lost.append(missing)
            if fault:
                faults += 1
                print(f"cut {moment}: {fault}")
    return faults, lost


if __name__ == "__main__":
    main()
