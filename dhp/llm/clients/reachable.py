"""Check that a server can be reached, and its list of models."""

import errno
import json
import re
import socket
import time
from collections.abc import Mapping
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_SECONDS = 3.0
_LONGEST = 2**16  # bytes of a refusal
_LONGEST_LIST = 2**22  # bytes
_UNREACHABLE = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
_OF_ITS_SCOPE = re.compile(r"scope|permission", re.I)


class _NoRedirect(HTTPRedirectHandler):
    """A key goes to the server that was named and to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


def server_fault(url: str, headers: Mapping[str, str]) -> str | None:
    """Why no call to the server at `url` can succeed: `key`, or what the system says; None where one may.

    Servers need not know `/models`, and a slow list is not a fault: only a connection that is refused, a host
    that is not there, and a key that is refused (401, unless it merely may not list models) are.
    """
    request = Request(f"{url}/models", headers=dict(headers))
    try:
        with build_opener(_NoRedirect).open(request, timeout=_SECONDS):
            return None
    except HTTPError as e:
        return "key" if e.code == 401 and not _OF_ITS_SCOPE.search(_body(e)) else None
    except URLError as e:
        why = e.reason
        if isinstance(why, socket.gaierror) or (isinstance(why, OSError) and why.errno in _UNREACHABLE):
            return str(why)
    except (OSError, HTTPException, ValueError):  # a broken answer is one
        pass
    return None


def served_models(url: str, headers: Mapping[str, str], timeout: float) -> list[str]:
    """The names of the models that the server at `url` lists, sorted.

    Raises
    ------
    OSError, HTTPException
        Where it cannot be reached or refuses; `TimeoutError` where it takes more than `timeout` seconds.
    ValueError, TypeError, KeyError, RecursionError
        Where it answers with anything but a list of models, or one of more than 4 MiB.
    """
    end = time.monotonic() + timeout
    answer = b""
    request = Request(f"{url}/models", headers=dict(headers))
    with build_opener(_NoRedirect).open(request, timeout=timeout) as response:
        while piece := response.read1(2**16):
            answer += piece
            if time.monotonic() > end:
                raise TimeoutError
            if len(answer) > _LONGEST_LIST:
                raise ValueError("too long for a list of models")
    return sorted(str(model["id"]) for model in json.loads(answer)["data"])


def _body(error: HTTPError) -> str:
    try:
        return error.read(_LONGEST).decode(errors="replace")
    except (OSError, HTTPException):
        return ""
