"""How long a key's echo takes, of this module and of espeak-ng's, in one run and in turn.

    python integrations/speech-dispatcher/benchmark.py --json results.json

Measured from the last line of a KEY message to the first sample above -50 dBFS, as the daemon gets
it: both modules send their sound through the daemon. `first` is a key whose sound was not made yet,
`again` one whose sound was kept."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ESPEAK = Path("/usr/lib/speech-dispatcher-modules/sd_espeak-ng")
KEYS = "qwertyuiopasdfghjklzxcvbnm0123456789"


class Module:
    """One running module."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.ask("INIT")
        for name, setting in (
            ("AUDIO", "audio_output_method=server"),
            ("SET", "rate=0\nvolume=100\nlanguage=en-US"),
        ):
            self.ask(name)
            self.ask(setting, ".")

    def ask(self, *lines: str) -> None:
        """Send lines, and wait for the answer's last line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()
        while self.process.stdout.readline()[3:4] == b"-":
            pass

    def echo_ms(self, key: str) -> float:
        """Milliseconds until a key is heard; then until it has ended, which is not counted."""
        assert self.process.stdout is not None
        self.ask("KEY")
        begun = time.perf_counter()
        heard = 0.0
        rate = 0
        silent = 0.0
        self.ask(key, ".")
        while not (line := self.process.stdout.readline()).startswith((b"702", b"703")):
            if line.startswith(b"705-sample_rate="):
                rate = int(line.partition(b"=")[2])
            if line.startswith(b"705-AUDIO\0") and not heard:
                data = line.removeprefix(b"705-AUDIO\0")[:-1]
                for byte in (b"\n", b"\x7d"):
                    data = data.replace(bytes([0x7D, byte[0] ^ 0x20]), byte)
                loud = np.flatnonzero(
                    np.abs(np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(int)) > 104
                )
                if len(loud):
                    # Silence before the first audible sample is heard as a delay, too.
                    heard = time.perf_counter() - begun + silent + loud[0] / rate
                else:
                    silent += len(data) / 2 / rate
        return heard * 1000

    def close(self) -> None:
        """The end."""
        self.ask("QUIT")
        self.process.wait(10)


def main() -> int:
    """Measure and print; --json keeps it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    cold = Module(sys.executable, "-m", "sayahead_speechd.module")
    first = [cold.echo_ms(key) for key in KEYS[:12]]
    modules = {
        "sayahead": cold,
        "espeak-ng": Module(str(ESPEAK), "/etc/speech-dispatcher/modules/espeak-ng.conf"),
    }
    time.sleep(10)
    times: dict[str, list[float]] = {name: [] for name in modules}
    for _ in range(arguments.rounds):
        for key in KEYS:
            for name, module in modules.items():
                times[name].append(module.echo_ms(key))
    for module in modules.values():
        module.close()
    rows = {
        "sayahead, first": first,
        "sayahead, again": times["sayahead"],
        "espeak-ng": times["espeak-ng"],
    }
    result = {
        "machine": platform.processor() or platform.machine(),
        "keys": len(KEYS),
        "rounds": arguments.rounds,
        "echo_ms": {
            name: {
                "p50": round(statistics.median(values), 1),
                "p95": round(float(np.quantile(values, 0.95)), 1),
                "most": round(max(values), 1),
            }
            for name, values in rows.items()
        },
    }
    print(json.dumps(result, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
