"""Worker processes for rendering, and the small protocol between them and the process that reads.

Parent to worker: the task, then one job at a time, each with its first source, and
the answers to its reads. Worker to parent: ``("read", path)``, ``("done", output)`` or ``("failed", reason)``.
A worker that ends without a word (killed, out of memory) fails its job, not the program.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait

from distributor.errors import TransformError
from distributor.transforms.rendering import Job, Rendered, Task, render_one

_WAIT_SECONDS = 0.5


class _Worker:
    """One worker process, and the job it is at."""

    def __init__(self, task: Task) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # The same modules must be found there as here, and none from the working folder.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "distributor.transforms.workers", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,  # standard output belongs to the report
                env=environment,
            )
        self.connection = Connection(ours.detach())
        self.job: Job | None = None
        self.connection.send(task)

    def give(self, index: int, job: Job, read: Callable[[str], bytes]) -> None:
        """Hand the worker its next job, with the source that it will ask for first."""
        self.job = job
        source = job.source_paths[0] if len(job.source_paths) == 1 else None
        self._send((index, job._replace(options=dict(job.options)), source and (source, read(source))))

    def answer(self, read: Callable[[str], bytes]) -> Rendered | None:
        """Take one message of the worker; returns a finished output. Raises ``TransformError``."""
        try:
            kind, content = self.connection.recv()
        except (EOFError, ConnectionError):
            raise self._ended() from None
        if kind == "read":
            self._send(read(content))
            return None
        self.job = None
        if kind == "failed":
            message, path, line, hint = content
            raise TransformError(message, path=path, line=line, hint=hint)
        return Rendered(*content)

    def _send(self, message: object) -> None:
        try:
            self.connection.send(message)
        except (BrokenPipeError, ConnectionError):
            raise self._ended() from None

    def _ended(self) -> TransformError:
        code = self.process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
        job = self.job
        path = job.source_paths[0] if job else "-"
        return TransformError(f"could not be rendered: the process at work on it {how}", path=path)

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


def render_in_processes(
    jobs: Sequence[Job], task: Task, read: Callable[[str], bytes], check: Callable[[], None], count: int
) -> Iterator[Rendered]:
    """Render ``jobs`` on ``count`` processes; see :func:`~distributor.transforms.rendering.render_all`."""
    workers: dict[Connection, _Worker] = {}
    waiting = iter(enumerate(jobs))
    try:
        for _ in range(count):
            worker = _Worker(task)
            workers[worker.connection] = worker
            _feed(worker, waiting, read)
        while any(worker.job for worker in workers.values()):
            check()
            for ready in wait(list(workers), timeout=_WAIT_SECONDS):
                worker = workers[ready]  # type: ignore[index]
                if (rendered := worker.answer(read)) is not None:
                    _feed(worker, waiting, read)
                    yield rendered
    finally:
        for worker in workers.values():
            worker.stop()


def _feed(worker: _Worker, waiting: Iterator[tuple[int, Job]], read: Callable[[str], bytes]) -> None:
    for index, job in waiting:
        worker.give(index, job, read)
        return


def serve(connection: Connection) -> None:
    """Render the jobs that come over ``connection`` until the other side closes it."""
    task: Task = connection.recv()
    while True:
        try:
            index, job, first = connection.recv()
        except EOFError:
            return
        held: dict[str, bytes] = dict([first] if first else [])

        def read(path: str, held: dict[str, bytes] = held) -> bytes:
            if path in held:
                return held[path]
            connection.send(("read", path))
            answer: bytes = connection.recv()
            return answer

        try:
            connection.send(("done", tuple(render_one(index, job, task, read))))
        except TransformError as error:
            where = error.path if error.line is None else f"{error.path}:{error.line}"
            message = error.message.removeprefix(f"{where}: ")
            connection.send(("failed", (message, error.path, error.line, error.hint)))


def main() -> None:
    """Serve the parent at the socket whose descriptor is the first argument."""
    import signal

    # The parent alone decides what a signal to the whole group means (G10).
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        serve(Connection(int(sys.argv[1])))
    except (BrokenPipeError, ConnectionError, EOFError):
        # The parent is gone: nobody waits for the rest.
        sys.exit(1)


if __name__ == "__main__":
    main()
