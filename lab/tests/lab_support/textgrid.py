"""Three words of a speaker, as Praat writes them."""

GRID = """File type = "ooTextFile"
Object class = "TextGrid"
xmin = 0
xmax = 1.5
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 1.5
        intervals: size = 5
        intervals [1]:
            xmin = 0
            xmax = 0.2
            text = ""
        intervals [2]:
            xmin = 0.2
            xmax = 0.5
            text = "how"
        intervals [3]:
            xmin = 0.5
            xmax = 0.75
            text = "are"
        intervals [4]:
            xmin = 0.75
            xmax = 1.25
            text = "you"
        intervals [5]:
            xmin = 1.25
            xmax = 1.5
            text = "sp"
    item [2]:
        class = "IntervalTier"
        name = "phones"
        xmin = 0
        xmax = 1.5
        intervals: size = 1
        intervals [1]:
            xmin = 0
            xmax = 1.5
            text = "spn"
"""
