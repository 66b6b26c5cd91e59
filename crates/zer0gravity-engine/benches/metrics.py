#!/usr/bin/env python3
"""How long the Python packages take for the pair of texts of text.rs: the yardstick of its ratios.

    pip install sacrebleu==2.6.0 rouge-score==0.1.2
    python3 crates/zer0gravity-engine/benches/metrics.py

Prints one line of JSON: milliseconds per pair (the best of 20 rounds) and the scores.
"""

import json
import time

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import CHRF

SYLLABLES = "ta re mi so lun der ka pol ist en ver gra tion ing com pre".split()


def pair_of_texts(words):
    state = 1

    def following(below):
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return (state >> 8) % below

    first, second = [], []
    for at in range(words):
        word = "".join(SYLLABLES[following(16)] for _ in range(following(3) + 1))
        mark = ". " if at % 12 == 11 else " "
        first.append(word + mark)
        second.append(("word" if at % 7 == 0 else word) + mark)
    return "".join(first), "".join(second)


def best(function):
    times, value = [], None
    for _ in range(20):
        start = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - start)
    return 1000 * min(times), value


if __name__ == "__main__":
    reference, hypothesis = pair_of_texts(1000)
    chrf, rouge = CHRF(word_order=2), RougeScorer(["rougeL"])
    chrf_time, chrf_score = best(lambda: chrf.sentence_score(hypothesis, [reference]).score)
    rouge_time, rouge_score = best(lambda: rouge.score(reference, hypothesis)["rougeL"].fmeasure)
    print(json.dumps({"chrfPpMs": chrf_time, "rougeLMs": rouge_time, "chrfPp": chrf_score, "rougeL": rouge_score}))
