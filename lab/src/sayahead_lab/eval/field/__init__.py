"""The field: every streaming engine that runs here, on the same texts and clocks; a card each, and
what ranks them."""
