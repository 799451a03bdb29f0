"""What is written goes into new regular files, and a folder is known by its first file."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import filelock
import pytest

from dhp.core.errors import DiskFull, InputError
from dhp.core.writing import (
    MANIFEST,
    OutputFolder,
    check_place,
    output_path,
    write_folder,
    write_lines,
    writing,
)

HOLDER = """
import sys, time
from dhp.core.writing import OutputFolder
with OutputFolder(sys.argv[1], "test"):
    pass
folder = OutputFolder(sys.argv[1], "test").claim()
print("taken", flush=True)
time.sleep(60)
"""
OBSTACLES = ("link", "dangling link", "hard link", "folder", "pipe")


def plant(place: Path, kind: str, victim: Path) -> None:
    match kind:
        case "link":
            place.symlink_to(victim)
        case "dangling link":
            place.symlink_to(victim.with_name("none"))
        case "hard link":
            place.hardlink_to(victim)
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)


@pytest.mark.parametrize("kind", OBSTACLES)
def test_nothing_is_written_over_what_is_no_file_of_ours(kind: str, tmp_path: Path) -> None:
    victim, place = tmp_path / "victim", tmp_path / "place"
    victim.write_text("years of work")
    plant(place, kind, victim)
    before = place.lstat()
    for write in (
        lambda: write_lines(place, ["new"]),
        lambda: OutputFolder(tmp_path, "test").write("place", ["new"]),
        lambda: write_folder(tmp_path, {"place": b"new"}),
        lambda: check_place(place),
    ):
        with pytest.raises(InputError, match="place: "):
            write()
    assert victim.read_text() == "years of work"
    assert not (tmp_path / "none").exists()
    assert stat.S_IFMT(place.lstat().st_mode) == stat.S_IFMT(before.st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["place", "victim"]


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")

    def write() -> None:
        with writing(tmp_path / "file") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "before"
    write_lines(tmp_path / "file", ["a\n", "b\n"])
    assert (tmp_path / "file").read_text() == "a\nb\n"


def test_a_home_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_lines("~/runs/x.txt", ["text"])
    with OutputFolder("~/out", "test").claim() as folder:
        folder.write("file", ["text"])
    assert (tmp_path / "home" / "runs" / "x.txt").read_text() == "text"
    assert (tmp_path / "home" / "out" / "file").read_text() == "text"
    assert [p.name for p in tmp_path.iterdir()] == ["home"]
    with pytest.raises(InputError, match="there is no such home folder"):
        output_path("~nobody-of-this-name/x")


def test_a_folder_is_known_by_its_first_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with OutputFolder(out, "battle", ("a.json",)).claim() as folder:
        assert [p.name for p in out.iterdir() if p.name[0] != "."] == [MANIFEST]
        folder.write("a.json", ["{}"])
    with OutputFolder(out, "battle").claim():  # at whatever moment it was stopped
        pass
    with pytest.raises(InputError, match=r"holds a battle, no run; choose another folder"):
        OutputFolder(out, "run").claim()
    with pytest.raises(InputError, match=r"holds the battle of another judge, prompt or texts"):
        OutputFolder(out, "battle").claim("another")
    (out / MANIFEST).unlink()
    with pytest.raises(InputError, match=r"holds other files and no battle; must be a new or empty folder"):
        OutputFolder(out, "battle").claim()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: is a file; must be a new folder or that of a battle"):
        OutputFolder(tmp_path / "file", "battle").claim()


@pytest.mark.parametrize("text", ["[]", "5", "{", "\xff"])
def test_a_broken_manifest_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"its manifest.json is broken; choose another folder"):
        OutputFolder(tmp_path, "run").claim()


def test_what_killed_commands_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".a.json.abcd_123").mkdir()
    (tmp_path / ".a.json.abcd_123" / "a.json").write_text("half")
    kept = (".b.json.abcd_123", ".a.json.link1234", ".a.json.x")
    for name in (".b.json.abcd_123", ".a.json.x"):
        (tmp_path / name).mkdir()
    (tmp_path / ".a.json.link1234").symlink_to(tmp_path / ".b.json.abcd_123")
    with OutputFolder(tmp_path, "test", ("a.json",)).claim():
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*kept, ".lock", MANIFEST])


def test_one_holds_a_folder_and_the_other_is_told_who(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder"
    one, other = OutputFolder(path, "test"), OutputFolder(path, "test")
    with one:
        one.take()
        one.take()  # again, by the same one
        with pytest.raises(InputError, match=rf"folder: is being written by process {os.getpid()} on "):
            other.take()
    assert list(tmp_path.iterdir()) == [], "what was made for it is gone"
    with other.claim():
        pass
    assert [p.name for p in path.iterdir()] == [MANIFEST]


def test_a_killed_holder_is_none(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"taken\n"
        with pytest.raises(InputError, match=f"by process {holder.pid} on "):
            OutputFolder(tmp_path, "test").take()
        holder.send_signal(signal.SIGKILL)
    with OutputFolder(tmp_path, "test").claim():
        assert (tmp_path / ".lock").read_text().startswith(f"process {os.getpid()} on ")
    assert not (tmp_path / ".lock").exists()


CONTENDER = """
import sys, time
from pathlib import Path
from dhp.core.errors import InputError
from dhp.core.writing import OutputFolder
taken = faults = 0
until = time.monotonic() + 1
while time.monotonic() < until:
    try:
        with OutputFolder(sys.argv[1], "test") as folder:
            folder.take()
            try:
                Path(sys.argv[2]).touch(exist_ok=False)
            except FileExistsError:
                faults += 1
                continue
            taken += 1
            time.sleep(0.002)
            Path(sys.argv[2]).unlink()
    except InputError:
        pass
print(taken, faults)
"""


@pytest.mark.slow
def test_no_two_hold_a_folder_while_its_lock_file_comes_and_goes(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", CONTENDER, str(tmp_path / "out"), str(tmp_path / "held")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    counts = [p.communicate()[0].split() for p in processes]
    assert all(int(taken) > 0 for taken, _ in counts), counts
    assert [faults for _, faults in counts] == ["0"] * 3
    assert list((tmp_path / "out").iterdir()) == []


def test_a_lock_file_of_another_program_keeps_its_text(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("years of work")
    with OutputFolder(tmp_path, "test").claim():
        pass
    assert (tmp_path / ".lock").read_text() == "years of work"


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def none(*_: object, **__: object) -> None:
        raise OSError(code, "no locks")

    monkeypatch.setattr(filelock.FileLock, "acquire", none)
    with OutputFolder(tmp_path, "test").claim():
        pass
    assert caplog.messages == [
        f"`out` {tmp_path}: its file system has no locks; let one command at a time write there"
    ]


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> BinaryIO:
        return Path("/dev/full").open("wb")

    monkeypatch.setattr("dhp.core.writing.new_file", full)
    with pytest.raises(DiskFull, match=r"file: cannot be written \(No space left on device\); make room"):
        write_lines(tmp_path / "file", ["x" * 100_000])
    assert list(tmp_path.iterdir()) == []
