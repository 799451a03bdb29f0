"""A lock file has one holder, whatever becomes of it."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dhp.core import files as locks
from dhp.core.errors import DiskFull, InputError
from dhp.core.files import Lock, has_locks

HOLDER = """
import sys, time
from pathlib import Path
from dhp.core.files import Lock
lock = Lock(Path(sys.argv[1]), "it")
lock.take()
print("taken", flush=True)
time.sleep(60)
"""


def test_one_holds_it_and_the_other_is_told_who(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / ".lock"
    one, other = Lock(path, "`out` folder"), Lock(path, "`out` folder")
    with one:
        one.take()  # again, by the same one
        with pytest.raises(
            InputError, match=rf"^`out` folder: is being written by process {os.getpid()} on "
        ):
            other.take()
        other.give_up()
        assert path.exists(), "who does not hold it gives nothing up"
    assert list(tmp_path.iterdir()) == [], "what was made for it is gone"
    with other:
        (path.parent / "kept").touch()
    assert [p.name for p in path.parent.iterdir()] == ["kept"]


def test_a_killed_holder_is_none(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"taken\n"
        with pytest.raises(InputError, match=f"by process {holder.pid} on "):
            Lock(path, "it").take()
        holder.send_signal(signal.SIGKILL)
    assert path.exists()
    with Lock(path, "it"):
        assert path.read_text().startswith(f"process {os.getpid()} on ")


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_said(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert has_locks(tmp_path)

    def none(*_: object) -> None:
        raise OSError(code, "no locks")

    monkeypatch.setattr(locks.fcntl, "flock", none)
    monkeypatch.setattr(locks.fcntl, "lockf", none)
    with Lock(tmp_path / ".lock", "`out` there"), Lock(tmp_path / "other", "it"):
        pass
    assert caplog.messages[0] == (
        "`out` there: its file system has no locks; let one command at a time write there"
    )
    assert not has_locks(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"it: cannot be written \(.*\)"):
        Lock(tmp_path / "file" / ".lock", "it").take()


def test_a_full_disk_is_named_with_what_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> str:
        raise OSError(28, "No space left on device")  # as a write does, which cannot be replaced in a file

    monkeypatch.setattr(locks, "this_process", full)
    with pytest.raises(DiskFull, match=r"^`out` folder: cannot be written \(No space left on device\)"):
        Lock(tmp_path / ".lock", "`out` folder").take()
