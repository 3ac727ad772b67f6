"""``python -m sayahead``: the command line."""

import sys

from sayahead.cli import main

if __name__ == "__main__":
    sys.exit(main())
