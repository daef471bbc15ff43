"""Making many small files durable: one ``fsync`` each against one ``syncfs``.

Run ``python bench/durability.py [FOLDER]`` on the file system in question. Prints, for each
number of files of 4 KiB, milliseconds to stage them, to make them durable in both ways, and
the ratio; the best of five rounds.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from distributor.storage.backends import local_sync
from distributor.storage.backends.local import LocalStorage
from distributor.storage.base import bytes_content

ROUNDS = 5


def measure(folder: Path, files: int, limit: int) -> tuple[float, float]:
    """Stage and sync ``files`` files; return both times in milliseconds."""
    local_sync.MANY = limit
    storage = LocalStorage(str(folder / "root"), None, None)
    content = bytes_content(os.urandom(4096), "")
    begun = perf_counter()
    for number in range(files):
        storage.stage(str(number), content)
    staged = perf_counter()
    storage.sync()
    synced = perf_counter()
    storage.close()
    shutil.rmtree(folder / "root")
    os.sync()
    return (staged - begun) * 1000, (synced - staged) * 1000


def main() -> None:
    """Print the table."""
    above = sys.argv[1] if len(sys.argv) > 1 else None
    folder = Path(tempfile.mkdtemp(dir=above))
    print(" files  stage ms  fsync ms  syncfs ms  ratio")
    for files in (1, 10, 100, 1000, 2000):
        single = [measure(folder, files, sys.maxsize) for _ in range(ROUNDS)]
        whole = [measure(folder, files, 0) for _ in range(ROUNDS)]
        each, once = min(sync for _, sync in single), min(sync for _, sync in whole)
        print(f"{files:6}  {min(stage for stage, _ in single):8.1f}  {each:8.1f}  {once:9.1f}  {each / once:5.1f}")
    folder.rmdir()


if __name__ == "__main__":
    main()
