"""Section 6 of bu2007 on the data it used: published values beside ours.

    python -m unspoken_experiments.bu2007.run          everything, into docs/experiments/bu2007.md
    python -m unspoken_experiments.bu2007.figure9      one figure, to the screen
"""
