"""The semiotic classes: for each a file of rules, what is a token of it, and a module of sayers,
what is said."""

CLASSES = (
    "date time money telephone code address ordinal roman fraction range measure formula number "
    "abbreviation electronic word pieces punctuation symbol".split()
)
"""In the order in which their rules are tried where two matches are equally long."""

BARE_CLASSES = ("abbreviation", "bare", "word", "punctuation")
"""Those of a language that leaves figures to its phonemizer: words, sentence ends and abbreviations
by their form."""
