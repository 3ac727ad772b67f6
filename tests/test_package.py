"""The package itself: its public names, and what it must not pull in."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires

import sayahead


def test_every_public_name_is_there() -> None:
    for name in sayahead.__all__:
        assert getattr(sayahead, name) is not None
    assert set(sayahead.__all__) == set(sayahead._MODULES)
    assert set(sayahead.__all__) <= set(dir(sayahead))


def test_speaking_imports_no_torch_and_help_no_numpy() -> None:
    code = "import sys, sayahead; sayahead.load_voice().synthesize('Hi.'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = "import sys, sayahead.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_base_install_needs_three_packages() -> None:
    base = [line for line in requires("sayahead") or [] if "extra ==" not in line]
    assert sorted(line.split("=")[0].split(">")[0] for line in base) == ["hibari-tts", "numpy", "onnxruntime"]
