#!/usr/bin/env python3
"""What a researcher would write first: states as strings, one law checked at every step.

It is the yardstick of the benchmark's headline ratio, so it is neither slowed down nor tuned.

    reference.py [--n 64] [--t 32] [--cases 200] [--seed 1] [--universe FILE.json] [--weights '>=1,<=1,X=2']

The law is that a weighted sum of symbol counts stays what it was at t = 0. Prints one line of JSON.
"""

import argparse
import itertools
import json
import random
import time


def grid_step(state):
    n = len(state)
    cells = []
    for i in range(n):
        right_mover = state[i - 1] in ">X"
        left_mover = state[(i + 1) % n] in "<X"
        if right_mover and left_mover:
            cells.append("X")
        elif right_mover:
            cells.append(">")
        elif left_mover:
            cells.append("<")
        else:
            cells.append(".")
    return "".join(cells)


def full_table(rule, symbols, radius):
    if "table" in rule:
        return rule["table"]
    table = {}
    for window in itertools.product(symbols, repeat=2 * radius + 1):
        for pattern, to in rule["patterns"]:
            if all(p in ("?", c) for p, c in zip(pattern, window)):
                break
        else:
            to = rule["default"]
        table["".join(window)] = to
    return table


def table_step(table, radius):
    width = 2 * radius + 1

    def step(state):
        n = len(state)
        return "".join(
            table["".join(state[(i + k - radius) % n] for k in range(width))] for i in range(n)
        )

    return step


def weighted(state, weights):
    return sum(weight * state.count(symbol) for symbol, weight in weights)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--t", type=int, default=32)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--universe", help="a table universe; without it the kinetic grid")
    parser.add_argument("--weights", help="symbol=weight,.. ; for a table: 1 for all but the first symbol")
    args = parser.parse_args()

    if args.universe:
        with open(args.universe, encoding="utf-8") as file:
            universe = json.load(file)
        symbols = list(universe["symbols"])
        forbidden = universe.get("initial_forbidden") or []
        radius = universe["radius"]
        step = table_step(full_table(universe["rule"], symbols, radius), radius)
        weights = [(symbol, 1) for symbol in symbols[1:]]
    else:
        symbols, forbidden, step = list(".><X"), ["X"], grid_step
        weights = [(">", 1), ("<", 1), ("X", 2)]
    if args.weights:
        weights = [(part[0], int(part[2:])) for part in args.weights.split(",")]
    allowed = [symbol for symbol in symbols if symbol not in forbidden]

    rng = random.Random(args.seed)
    starts = ["".join(rng.choice(allowed) for _ in range(args.n)) for _ in range(args.cases)]
    violated = 0
    # The time of this process alone, so that other load on the machine does not flatter whoever is compared.
    begin = time.process_time()
    for state in starts:
        first = weighted(state, weights)
        broken = False
        for _ in range(args.t):
            state = step(state)
            if weighted(state, weights) != first:
                broken = True
        violated += broken
    seconds = time.process_time() - begin

    updates = args.n * args.t * args.cases
    print(
        json.dumps(
            {
                "cell_updates": updates,
                "seconds": seconds,
                "cell_updates_per_second": updates / seconds if seconds else 0.0,
                "cases_violated": violated,
            }
        )
    )


if __name__ == "__main__":
    main()
