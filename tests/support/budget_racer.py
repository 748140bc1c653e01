"""A process that discloses what it books: for races over one budget."""

import sys

from unspoken.release.budget import Budget
from unspoken.release.budget_costs import Cost
from unspoken.release.budget_entries import Draw


def main(path, name, epsilon, size):
    budget = Budget(path)
    print("ready", flush=True)
    sys.stdin.readline()
    while True:
        wanted = [Draw(Cost(float(epsilon)), name, "query", "q") for _ in range(int(size))]
        booked = sum(budget.draw_each(wanted))
        # What is printed is what was answered: the reader holds it against the file.
        print(booked, flush=True)
        if booked < int(size):
            return


main(*sys.argv[1:])
