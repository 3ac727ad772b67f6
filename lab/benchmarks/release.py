"""A frozen release of all results and of the texts that were spoken, to be cited: the same bytes
for the same files.

    python lab/benchmarks/release.py sayahead-results.tar.xz
    python lab/benchmarks/release.py sayahead-results.tar.xz --check

Prints its digest, by which it is cited; SHA256SUMS in it has that of every file. ``--check`` names
what is not the same here, and fails if anything is.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tarfile
from pathlib import Path

from sayahead_lab.eval.experiment.frozen import FOLDER

ROOT = Path(__file__).parents[2]
SUMS = "SHA256SUMS"


def contents(root: Path = ROOT) -> dict[str, bytes]:
    """What belongs to a release, by name."""
    results = sorted(
        path for path in (root / "lab/benchmarks/results").rglob("*") if path.is_file()
    )
    files = {str(path.relative_to(root)): path for path in (root / "CITATION.cff", *results)}
    files |= {f"texts/{path.name}": path for path in sorted(FOLDER.glob("*.jsonl"))}
    return {name: path.read_bytes() for name, path in files.items()}


def sums(files: dict[str, bytes]) -> str:
    """The files' digests, a line each, as sha256sum has them."""
    return "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())
    )


def write(target: Path, files: dict[str, bytes]) -> str:
    """Write a release; its digest."""
    with tarfile.open(target, "w:xz", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted({**files, SUMS: sums(files).encode()}.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return hashlib.sha256(target.read_bytes()).hexdigest()


def changed(target: Path, files: dict[str, bytes]) -> list[str]:
    """Names of files that are not in both, or not the same."""
    with tarfile.open(target) as archive:
        listed = archive.extractfile(SUMS)
        assert listed is not None
        then, now = (set(text.splitlines()) for text in (listed.read().decode(), sums(files)))
    return sorted({line.split("  ", 1)[1] for line in then ^ now})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if asked.check:
        names = changed(asked.file, contents())
        print("\n".join(names) or "all the same")
        return int(bool(names))
    print(write(asked.file, contents()), asked.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
