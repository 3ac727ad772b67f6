"""What a clone downloads and takes on the disk, in each way that docs/how-to/install.md names.

    python lab/benchmarks/clone_size.py [-o lab/benchmarks/results/clone_size.json]

It clones this repository over git's own protocol from a copy of it, so it needs no network.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from sayahead_lab.results import options, tell_figures

ROOT = Path(__file__).parents[2]
WAYS: dict[str, tuple[list[str], list[str]]] = {
    "all": ([], []),
    "without the history": (["--depth", "1"], []),
    "the package alone": (["--depth", "1", "--filter=blob:none", "--sparse"], ["src", "examples"]),
    "the package and its voices": (
        ["--depth", "1", "--filter=blob:none", "--sparse"],
        ["src", "examples", "voices/family"],
    ),
}
"""Options of git clone, and the folders that are checked out."""
MB = 1e6


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def git(*arguments: str, folder: Path) -> None:
    """Run git; CalledProcessError where it fails."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def measured(
    origin: Path, target: Path, options: list[str], folders: list[str]
) -> dict[str, float]:
    """The size of a clone, megabytes."""
    git("clone", *options, f"file://{origin}", str(target), folder=origin)
    if folders:
        git("sparse-checkout", "set", *folders, folder=target)
    downloaded = size_of(target / ".git")
    return {"download_mb": round(downloaded / MB, 1), "disk_mb": round(size_of(target) / MB, 1)}


def main() -> None:
    """Measure all ways."""
    arguments = options(__doc__, "results").parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        origin = folder / "origin"
        git("clone", "--bare", "--no-local", str(ROOT), str(origin), folder=folder)
        git("config", "uploadpack.allowFilter", "true", folder=origin)
        rows = [
            {"way": way, **measured(origin, folder / f"clone-{number}", *chosen)}
            for number, (way, chosen) in enumerate(WAYS.items())
        ]
    tell_figures(rows, arguments.results)


if __name__ == "__main__":
    main()
