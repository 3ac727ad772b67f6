"""A line to a server that can be cut, as when its machine is gone: nobody says goodbye, and nobody
answers."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from types import TracebackType
from typing import Self


class Line:
    """A port of this machine's that leads to a server while it is whole."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._open = list[socket.socket]()
        self._listening = self._listen(0)
        self.port = int(self._listening.getsockname()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.cut()

    @property
    def http(self) -> str:
        """Its address for requests."""
        return f"http://127.0.0.1:{self.port}/"

    def _listen(self, port: int) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listening,), daemon=True).start()
        return listening

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = listening.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """From now on, nobody answers."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for end in self._open:
            with contextlib.suppress(OSError):
                # Closed by a reset.
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()

    def mend(self) -> None:
        """The server answers again."""
        self._listening = self._listen(self.port)
