#!/usr/bin/env python3
"""An independent checker of proofs of laws of ring universes, written from docs/proof-format.md alone.

Use: check_proof.py FILE...   (`-` is the standard input). A file has a proof, a verdict, an array of these,
or one a line. A line for each proof says whether it holds. The exit code is 0 if all hold, 4 if one does not,
else 2 if a file has no JSON or no proof. The methods of Proof follow the page, section by section.
"""
import hashlib
import itertools
import json
import math
import re
import sys
from collections import namedtuple

GRID = {"id": "kinetic_grid_v1", "symbols": ".><X", "radius": 1, "rule": {"table": {
    a + b + c: ".><X"[(a in ">X") + 2 * (c in "<X")] for a, b, c in itertools.product(".><X", repeat=3)}},
    "initial_forbidden": "X", "incoming": "X", "transforms": [
        {"name": "mirror_swap", "reverse": True, "map": {"<": ">", ">": "<"}},
        {"name": "mirror_only", "reverse": True, "map": {}},
        {"name": "swap_only", "reverse": False, "map": {"<": ">", ">": "<"}}]}
GRID_HASH = "d9445fdab2011948944c66c6b35b2237b1d7f1a9a0da31c57fa4d47b3307d2f2"
LAW_KEYS = set(
    "law_id template quantifiers observables preconditions claim claim_ast forbidden transform direction "
    "bound_op bound_value trigger_symbol neighbor_pattern required_parity result_op result_symbol "
    "novelty_claim proposed_tests schema_version capability_requirements distinguishes_from "
    "ranking_features".split())
CLAIMS = {                                          # the key of a claim: its templates, its certificates
    "transform": (["symmetry_commutation"], ["homogeneity", "rule_commutes"]),
    "trigger_symbol": (["local_transition"], ["rule_table"]),
    "claim_ast": (["invariant", "monotone", "bound", "implication_state", "implication_step", "eventually"],
                  ["refutations", "regular"])}
OBSERVABLES = {                                     # its variable, the form of its arguments
    "count": ("Cells", "'(.)'"), "count_pattern": ("Cells", "'([^']+)'"), "leftmost": ("Leftmost", "'(.)'"),
    "rightmost": ("Rightmost", "'(.)'"), "spread": ("Spread", "'(.)'"), "max_gap": ("Max_gap", "'(.)'"),
    "count_at_parity": ("Even", "'(.)',([01])"), "adjacent_pairs": ("Inside", "'(.)','(.)'"),
    "gap_pairs": ("Inside", "'(.)','(.)',([0-9]+)")}
TOKEN = re.compile(r"[a-z_]+(?:\((?:'[^']+'|[0-9]+|,)+\))?|(?<![a-z0-9_)])-(?:[0-9]+|\()|[0-9]+|[-+*%()]")
OPPOSITE = {"<=": ">", ">": "<=", ">=": "<", "<": ">=", "==": "!=", "!=": "=="}
BIG, MOST_WINDOWS, MOST_STEPS = 2 ** 32, 70_000, 10_000_000
# A form is a dictionary from variables, and ONE for the constant, to factors other than 0. The moment of a
# variable is `delay` steps after `base`, "start" or "run" (the running step); "" if it has none itself. Its
# detail is a pattern, a tuple of (offset, symbol); or, of a product "*" or remainder "%", two sets of items.
Variable = namedtuple("Variable", "kind base delay detail")
ONE, LENGTH = Variable("One", "", 0, ()), Variable("Length", "", 0, ())
METERS = {  # the next state, which begins with the value so far; hit, last: the first, last symbol is here
    "Leftmost": lambda s, hit, last: s if s[0] >= 0 else (s[1], 0) if hit else (-1, min(s[1] + 1, 17)),
    "Rightmost": lambda s, hit, last: (s[1] if hit else s[0], min(s[1] + 1, 17)),
    "Spread": lambda s, hit, last: (s[1] if hit else s[0], min(s[1] + 1, 17) if hit or s[1] else 0),
    "Max_gap": lambda s, hit, last: (max(s[0], s[1] + 1), min(s[1] + 1, 17)) if hit else (s[0], 0),
    "Inside": lambda s, hit, last: (s[0] + (s[-1] and last), hit, *s[1:-1]),
    "Order": lambda s, hit, last: s if hit - last in (0, s[1]) else (hit - last, s[1] or hit - last),
    "Sum": lambda s, even, odd: (s[0] + (odd if s[1] else even), 1 - s[1])}


def need(condition, text, error=ValueError):
    """Refuse the proof unless the condition holds; the text says what was expected."""
    if not condition:
        raise error("expected " + text)


def fields(value, spec):
    """The values of an object that has exactly the keys of the spec, with values of its types."""
    kinds = dict(part.split(":") for part in spec.split())
    need({key: type(x).__name__ for key, x in value.items()} == kinds, f"an object with the keys {spec}")
    return [value[key] for key in kinds]


def sha256(value, prefix="", sort_keys=True):
    """The sha256 of the JSON of a value, after a prefix."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, separators=(",", ":"))
    return hashlib.sha256((prefix + text).encode("utf-8")).hexdigest()


def settled(values, edges, combine):
    """The values of states after the value of a, plus x, has gone to b along each edge (a, x, b), combined
    with the value that b has, until nothing changes; None if this has no end, or takes too long."""
    before, passes = None, 0
    while values != before and passes <= len(edges) + 1 and passes * len(edges) <= MOST_STEPS:
        before, passes = dict(values), passes + 1
        for a, x, b in edges:
            if a in values:
                values[b] = combine(values[b], values[a] + x) if b in values else values[a] + x
    return values if values == before else None


def strings_inside(words, length, symbols):
    """All strings of a length all of whose strings of the words' length are words."""
    found, m = sorted(words), max(map(len, words), default=length)
    for _ in range(length - m):
        found = [w + symbol for w in found for symbol in symbols if (w + symbol)[-m:] in words]
    return found


def plus(f, g, factor=1):
    """f + factor * g."""
    total = {v: f.get(v, 0) + factor * g.get(v, 0) for v in {**f, **g}}
    return {v: c for v, c in total.items() if c}


def operation(op, left, right):
    """The form and the bound of (left op right), each of them a form and its bound."""
    (f, a), (g, b) = left, right
    c, k = (form.get(ONE, 0) if form.keys() <= {ONE} else None for form in (f, g))  # the constants, or None
    need(op in ("+", "-", "*") or op == "%" and k, "another operator, or a divisor other than 0")
    forms = [frozenset(f.items()), frozenset(g.items())]
    nested = {Variable(op, "", 0, tuple(sorted(forms, key=hash) if op == "*" else forms)): 1}
    form, bound = {
        "+": (plus(f, g), a + b), "-": (plus(f, g, -1), a + b),
        "*": (plus({}, f, k) if k is not None else plus({}, g, c) if c is not None else nested, a * b),
        "%": (plus({}, {ONE: c % (k or 1)}) if c is not None else nested, b)}[op]
    need(bound < 2 ** 62, "a bound below 2^62")
    return form, bound


def variables(f):
    """The variables of a form, and those inside its products and remainders."""
    return set(f).union(*(variables(dict(g)) for v in f if v.kind in ("*", "%") for g in v.detail))


def without(f, base):
    """The form without its constant and the variables that read the start, or the running step ("run")."""
    return {v: c for v, c in f.items() if v != ONE and all(w.base != base for w in variables({v: c}))}


def readable(way, hidden=None):
    """The inequalities without a product that do not read the start, or the running step ("run")."""
    return [f for f in way if all(v.kind != "*" and v.base != hidden for v in variables(f))]


def shift(f, steps=None, base="run"):
    """The form with its running step some steps later, or put at this step after the start; without steps,
    with its moments after the running step moved back so that the least is 0."""
    steps = -min((v.delay for v in f if v.base == "run"), default=0) if steps is None else steps
    return {v._replace(base=base, delay=v.delay + steps) if v.base == "run" else v: c for v, c in f.items()}


def growth(f):
    """form(t + 1) - form(t)."""
    return plus(shift(f, 1), f, -1)


def join(parts, otherwise=None):
    """The ways in which all parts hold, the first outermost; others if they are too many or too long."""
    few = math.prod(map(len, parts)) <= 64 and sum(max(map(len, ways)) for ways in parts) <= 64
    need(few or otherwise, "at most 64 ways of at most 64 inequalities")
    return [sum(ways, []) for ways in itertools.product(*parts)] if few else otherwise


class Proof:
    """A proof. Symbols are replaced by their numbers, as digits, so strings have the order of the page."""

    # ---- Check a proof

    def __init__(self, proof):
        """Check a proof; an error if it does not hold."""
        universe = GRID if proof["universe"] == GRID["id"] else proof["universe"]
        law, _, certificate, sim_hash, *stated = fields(
            proof | {"universe": universe}, "law:dict universe:dict certificate:dict sim_hash:str "
            "schema_version:str scope:str law_fingerprint:str digest:str method:str")
        level = [proof]
        for _ in range(101):
            level = [x.values() if type(x) is dict else x for x in level if type(x) in (list, dict)]
            level = list(itertools.chain(*level))
            need(float not in map(type, level), "integers for numbers")
        need(not level, "at most 100 levels")
        self.read_universe(universe)
        self.read_law(law)
        [(kind, value)], version = certificate.items(), "1.1.0" if "regular" in certificate else "1.0.0"
        need(sim_hash in self.hashes and kind in CLAIMS[self.claim][1], "another sim_hash, or certificate")
        digest = sha256({key: x for key, x in proof.items() if key != "digest"})
        method = getattr(self, kind)(value) or kind
        found = [version, "every ring size N >= 1, every t", sha256(law), digest, method]
        need(stated == found, f"{found}")

    def read_universe(self, u):
        """Read a definition."""
        name, names, self.radius, rule, forbidden, transforms, *incoming = fields(
            u, "id:str symbols:str radius:int rule:dict initial_forbidden:str transforms:list"
            + " incoming:str" * ("incoming" in u))
        need(re.fullmatch("[A-Za-z0-9_.-]{1,64}", name) and (name != GRID["id"] or u == GRID), "another id")
        need(re.fullmatch(r"[^\s\x00-\x1f\x7f-\x9f'\"`?\\]{1,8}", names) and self.radius in (0, 1, 2),
             "1 to 8 symbols, a radius from 0 to 2")
        self.numbers, self.size = {symbol: str(i) for i, symbol in enumerate(names)}, 2 * self.radius + 1
        self.symbols, [table] = "".join(self.numbers.values()), fields(rule, "table:dict")
        self.table = {self.digits(window): self.digits(symbol, 1) for window, symbol in table.items()}
        need(self.table.keys() == set(strings_inside(self.symbols, self.size, self.symbols)), "all windows")
        self.starting = set(self.symbols) - set(self.digits(forbidden))
        need(len(names) == len(self.symbols) and len(forbidden) == len(set(forbidden)) and self.starting,
             "different symbols, one of which may start")
        self.incoming = [self.digits(symbol, 1) for symbol in incoming]
        self.transforms, transforms = {}, [fields(x, "name:str reverse:bool map:dict") for x in transforms]
        for name, reverse, exchange in transforms:
            image = {self.digits(a, 1): self.digits(b, 1) for a, b in exchange.items()}
            image = {symbol: image.get(symbol, symbol) for symbol in self.symbols}
            need(len(set(image.values())) == len(image), "a map that exchanges symbols")
            need(re.fullmatch(r"(?!shift_)(?=.*\S)[^\x00-\x1f\x7f-\x9f]*", name)
                 and name not in self.transforms, "another name of a transform")
            self.transforms[name] = reverse, image
        ordered = {key: u[key] for key in GRID if key in u} | {"rule": {"table": dict(sorted(table.items()))}}
        ordered["transforms"] = [dict(name=name, reverse=reverse, map=dict(sorted(exchange.items())))
                                 for name, reverse, exchange in transforms]
        self.hashes = [sha256(ordered, "popper-universe/1\n", sort_keys=False)] + [GRID_HASH] * (u == GRID)

    def digits(self, text, length=None):
        """A string of symbols as digits; a LookupError if there are others in it."""
        need(type(text) is str and length in (None, len(text)), f"a string of {length or ''} symbols")
        return "".join(self.numbers[symbol] for symbol in text)

    def image(self, cells, steps):
        """What a string becomes: each step shortens it by the radius at both ends."""
        for _ in range(steps):
            cells = "".join(self.table[cells[i:i + self.size]] for i in range(len(cells) - self.size + 1))
        return cells

    # ---- Read the law

    def read_law(self, law):
        """Read the keys that matter; absent and null mean the same."""
        need(law.keys() <= LAW_KEYS, "known keys of a law")
        law = {"observables": [], "preconditions": []} | {key: x for key, x in law.items() if x is not None}
        [self.claim], template, starts = CLAIMS.keys() & law.keys(), law["template"], []
        self.law, self.eventually = law, template == "eventually"
        *_, self.horizon = steps = fields(law["quantifiers"], "T:int H:int" if self.eventually else "T:int")
        need(template in CLAIMS[self.claim][0] and min(steps) >= 0, "another template, or number of steps")
        need({type(law["observables"]), type(law["preconditions"])} == {list}, "arrays")
        for name, text in (fields(x, "name:str expr:str") for x in law["observables"]):
            need(name == text, "observables whose names are their expressions")
        for x in law["preconditions"]:
            sides = {key: {"obs": str(x[key]), "t": {"const": 0}} for key in ("lhs", "rhs")}
            need(x.keys() == {"lhs", "op", "rhs"} and x["op"] in OPPOSITE, "a comparison")
            try:
                starts.append(self.ways(x | sides, True))
            except LookupError:                                 # it cannot be read
                continue
        self.starts, self.p, self.q = join(starts, [[]]), None, law.get("claim_ast")
        if self.claim == "claim_ast" and self.q.get("op") == "=>":
            _, self.p, self.q = fields(self.q, "op:str lhs:dict rhs:dict")
        elif template in ("implication_state", "implication_step", "eventually"):
            self.p = {"op": "==", "lhs": {"const": 0}, "rhs": {"const": 0}}

    def expression(self, text, base, delay):
        """The form of an expression at a moment, and its bound; a LookupError if it cannot be read."""
        tokens = TOKEN.findall(text)[::-1]
        need("".join(tokens[::-1]) == text, "an expression", LookupError)

        def operand():
            """An integer, an observable, -(x), or (x+y+z)."""
            token = tokens.pop()
            if token not in ("(", "-("):
                return self.observable(token, base, delay)
            result, op = operand(), tokens.pop()
            need(op == ")" if token == "-(" else op in ("+", "-", "*", "%"), "another operator", LookupError)
            while op != ")":
                result, before, op = operation(op, result, operand()), op, tokens.pop()
                need(op == ")" or op == before != "%", "one operator in parentheses", LookupError)
            return operation("-", ({}, 0), result) if token == "-(" else result

        result = operand()
        need(not tokens, "the end of an expression", LookupError)
        return result

    def observable(self, token, base, delay):
        """The form of an integer or of an observable at a moment, and its bound."""
        if token[-1].isdigit():
            return operation("+", ({}, 0), ({ONE: int(token)}, abs(int(token))))
        if token == "grid_length":
            return {LENGTH: 1}, 65_536
        if token == "incoming_collisions":
            return {Variable("Cells", base, delay + 1, ((0, self.incoming[0]),)): 1}, 65_536
        name, _, arguments = token.partition("(")
        kind, shape = OBSERVABLES[name]
        match = re.fullmatch(shape, arguments[:-1])
        need(match, f"other arguments of {name}", LookupError)
        first, *others = match.groups()
        pattern = tuple(enumerate(self.digits(first)))
        if kind == "Inside":
            pattern += ((1 + sum(map(int, others[1:])), self.digits(others[0])),)
        cells, form = ({Variable(x, base, delay, pattern): 1} for x in ("Cells", kind))
        return plus(cells, form, -1) if kind == "Even" and others == ["1"] else form, 65_536

    # ---- Write down the ways to fail

    def number(self, node, base, delay):
        """The form and the bound of a node that is a number, with the running step at this moment."""
        if "const" in node:
            return self.observable(str(*fields(node, "const:int")), base, delay)
        if "obs" in node:
            text, moment = fields(node, "obs:str t:dict")
            moments = {'{"const": 0}': ("start", 0), '{"var": "t"}': (base, delay),
                       '{"t_plus_1": true}': (base, delay + 1)}
            return self.expression(text, *moments[json.dumps(moment)])
        op, *sides = fields(node, "op:str arg:dict" if "arg" in node else "op:str lhs:dict rhs:dict")
        need(op == "-" or len(sides) == 2, "a number")
        return operation(op, *[({}, 0)] * (2 - len(sides)), *(self.number(x, base, delay) for x in sides))

    def ways(self, node, holds, base="run", delay=0):
        """The ways in which a node holds, or fails, the running step at this moment: lists of forms <= 0."""
        op, left, *right = fields(node, "op:str arg:dict" if "arg" in node else "op:str lhs:dict rhs:dict")
        need(len(right) == (op != "not"), "a formula")
        if op in ("not", "and", "or", "=>"):
            parts = [self.ways(left, holds == (op in ("and", "or")), base, delay)]
            parts += [self.ways(x, holds, base, delay) for x in right]
            return join(parts if (op == "and") == holds else [sum(parts, [])])
        left, right = (self.number(x, base, delay)[0] for x in (left, *right))
        less, more = plus(left, right, -1), plus(right, left, -1)
        below, above = plus(less, {ONE: 1}), plus(more, {ONE: 1})
        return {"<=": [[less]], ">=": [[more]], "<": [[below]], ">": [[above]], "==": [[less, more]],
                "!=": [[below], [above]]}[op if holds else OPPOSITE[op]]

    def failures(self, delays, base="run", start=0):
        """Each way in which P holds, with each way in which Q fails after the delays."""
        return join([self.ways(self.p, True, base, start) if self.p else [[]],
                     *(self.ways(self.q, False, base, start + d) for d in delays)])

    # ---- Check the certificates of version 1.0.0

    def homogeneity(self, value):
        """Every rule commutes with every shift."""
        fields(value, "")
        need(re.fullmatch("shift_(k|-?[0-9]+)", self.law["transform"]), "a shift")

    def rule_commutes(self, value):
        """In each window, a transform of the universe commutes with the rule."""
        reverse, image = self.transforms[self.law["transform"]]
        need(fields(value, "neighbourhoods:int") == [len(self.table)], "another number of windows")
        images = {w: "".join(image[symbol] for symbol in (w[::-1] if reverse else w)) for w in self.table}
        need(all(self.table[images[w]] == image[self.table[w]] for w in images), "the same in each window")

    def rule_table(self, value):
        """In each window of which the cell claim speaks, the next symbol is as it says."""
        r, law, equal = self.radius, self.law, {"==": True, "!=": False}[self.law["result_op"]]
        trigger, result = (self.digits(law[key], 1) for key in ("trigger_symbol", "result_symbol"))
        near = self.digits(law["neighbor_pattern"], 3) if r and "neighbor_pattern" in law else None
        windows = [w for w in self.table if w[r] == trigger and near in (None, w[r - 1:r + 2])]
        need(fields(value, "windows:int triggered:int") == [len(self.table), len(windows)], "other numbers")
        need(all((self.table[w] == result) == equal for w in windows), "a claim that holds in each window")

    def count_list(self, value, now=False):
        """A count list as a form after the running step; with a count of delay 0 if `now`."""
        rows = [fields(entry, "delay:int pattern:str coefficient:int") for entry in value]
        counts = [(d, tuple((i, self.digits(s)) for i, s in enumerate(p) if s != "?")) for d, p, _ in rows]
        need(all(p.strip("?") == p and (p or not d) for d, p, _ in rows), "other patterns")
        need(all(0 <= d <= 16 and 0 < abs(c) <= BIG for d, _, c in rows), "delays to 16, factors to 2^32")
        need(counts == sorted(set(counts)), "counts in order")
        need(not now or any(pattern and not delay for delay, pattern in counts), "a count of delay 0")
        return {Variable("Cells", "run", *n) if n[1] else LENGTH: row[2] for n, row in zip(counts, rows)}

    def lemma(self, value, f, symbols):
        """A local form is at most 0 on each ring of the symbols."""
        scale, slack, potentials = fields(value, "scale:int slack:int potentials:list")
        c, n, graph = f.get(ONE, 0), len(symbols), Graph(self, symbols, [f], most=MOST_WINDOWS)
        need((scale, slack) == (1, 0) if c <= 0 else scale >= 1 <= slack > scale * (c - 1), "scale and slack")
        nodes = len(graph.windows) // n
        need([type(p) for p in potentials] == [int] * nodes and potentials[0] == 0, f"{nodes} potentials")
        gaps = [potentials[i % nodes] - potentials[i // n] - scale * weight - slack
                for i, (weight, _) in enumerate(graph.weights(f))]
        found, todo = {0}, [0]
        for x in todo:                                  # grows while it is read
            todo += (new := {i % nodes for i in range(x * n, x * n + n) if gaps[i] == 0} - found)
            found |= new
        need(min(gaps) >= 0 and len(found) == nodes, "potentials that fit, with equality")

    def limits(self, v):
        """The largest and the least local form of a variable; None if there is none."""
        zero, last, k = {ONE: 0}, {LENGTH: 1, ONE: -1}, dict(v.detail[1])[ONE] if v.kind == "%" else 0
        natural = v.kind == "*" and (v.detail[0] == v.detail[1] or all(
            c >= 0 and (self.limits(w)[1] or {ONE: -1}).get(ONE, 0) >= 0 for g in v.detail for w, c in g))
        return {"One": ({v: 1}, {v: 1}), "Length": ({v: 1}, {v: 1}), "Cells": ({v: 1}, {v: 1}),
                "Leftmost": (last, {ONE: -1}), "Rightmost": (last, {ONE: -1}), "Spread": (last, zero),
                "%": ({ONE: max(k - 1, 0)}, {ONE: min(k + 1, 0)}), "*": (None, zero if natural else None),
                }.get(v.kind, ({v._replace(kind="Cells"): 1}, zero))

    def combination(self, unit, multipliers, inequalities):
        """unit - sum(multiplier * form), in local forms: A(t), and B(0) + c."""
        need(1 <= unit <= BIG and len(multipliers) == len(inequalities), "a unit, a multiplier an inequality")
        need(all(type(x) is int and 0 <= x <= BIG for x in multipliers), "multipliers from 0 to 2^32")
        total, local = {ONE: unit}, {}
        for multiplier, f in zip(multipliers, inequalities):
            total = plus(total, f, -multiplier)
        for v, factor in total.items():
            need(limit := self.limits(v)[factor < 0], "a product that has a least value")
            local = plus(local, limit, factor)
        return without(local, "start"), plus(local, without(local, "start"), -1)

    def from_start(self, f, forms, step, k=None):
        """Inside products and remainders of f, what is one of the forms is read `step` steps after the start;
        with a k, only in remainders whose divisor divides k, and whose form reads no start."""
        total = {}
        for v, factor in f.items():
            inside = [self.from_start(dict(g), forms, step, k) for g in v.detail if v.kind in ("*", "%")]
            for i, g in enumerate(inside):
                running, divides = without(g, "start"), v.kind == "%" and k and k % inside[1][ONE] == 0
                if shift(running) in forms and (k is None or divides and running == without(g, None)):
                    inside[i] = plus(plus(g, running, -1), shift(shift(running), step, "start"))
            total = plus(total, operation(v.kind, *((g, 0) for g in inside))[0] if inside else {v: 1}, factor)
        return total

    def refutations(self, value):
        """Check the failures with `delays`; gives the method."""
        delays, conserved, cases = fields(value, "delays:list conserved:list cases:list")
        most, forms, simple = min(self.horizon, 16) if self.eventually else 0, [], not conserved
        need(delays and all(type(d) is int and 0 <= d <= most for d in delays), f"delays up to {most}")
        need(delays == sorted(set(delays)), "ascending delays")
        for counts, up, down in (fields(entry, "form:list not_up:dict not_down:dict") for entry in conserved):
            forms.append(self.count_list(counts, now=True))
            self.lemma(up, growth(forms[-1]), self.symbols)
            self.lemma(down, plus({}, growth(forms[-1]), -1), self.symbols)
        failures = self.failures(delays)
        need(len(cases) == len(failures), f"{len(failures)} cases")
        for entry, failure in zip(cases, failures):
            unit, multipliers, reason = fields(entry, "unit:int multipliers:list reason:dict")
            failure = [self.from_start(f, forms, 0) for f in failure]
            running, rest = self.combination(unit, multipliers, failure)
            running = shift(running)
            if "every_state" in reason:
                need(rest.keys() <= {ONE}, "a combination that reads no start")
                self.lemma(*fields(reason, "every_state:dict"), plus(running, rest), self.symbols)
                continue
            [bounded], simple = fields(reason, "bounded:dict"), False
            counts, above, step, start = fields(bounded, "invariant:list above:dict step:dict start:dict")
            invariant = self.count_list(counts)
            self.lemma(above, plus(running, invariant, -1), self.symbols)
            self.lemma(step, growth(invariant), self.symbols)
            self.lemma(start, plus(shift(invariant, 0, "start"), rest), self.starting)
        return "window_graph" if simple else "induction"

    # ---- Check a regular certificate

    def regular(self, value):
        """Check the entries; for `eventually` there is one in all."""
        [entries], cases = fields(value, "cases:list"), [[]]
        if not self.eventually:                         # the cases, and with the running step put at 0, at 1
            failures = [self.failures([0], *moment) for moment in (("run", 0), ("start", 0), ("start", 1))]
            cases = list(zip(*(join([self.starts, x], x) for x in failures)))
        need(len(entries) == len(cases), f"{len(cases)} cases")
        for entry, case in zip(entries, cases):
            m, s, start_words, words, refutation = fields(
                entry, "m:int s:int start_words:list words:list refutation:dict")
            need(1 <= m <= 4 and 0 <= s <= 2 and (s == 0 or case), "m from 1 to 4, s from 0 to 2; 0 for rank")
            words = self.region(start_words, words, m, s, case[:1] or self.starts)
            if self.eventually:
                self.rank(*fields(*fields(refutation, "rank:dict"), "sets:list"), words, m)
            else:
                self.refutation(refutation, words, s, *case)

    def word_set(self, value, length):
        """A set of words, from an array of strings in order, each once."""
        words = [self.digits(word, length) for word in value]
        need(type(value) is list and words == sorted(set(words)), "an array of words in order, each once")
        return set(words)

    def region(self, start_words, words, m, s, starts):
        """Each state from the step s on has words only, if it began as one of the starts says; gives them."""
        length, longer = m + 2 * self.radius * s, m + 2 * self.radius
        need(len(self.symbols) ** longer <= MOST_WINDOWS, "a smaller m")
        begin, words = self.word_set(start_words, length), self.word_set(words, m)
        for start in (readable(x, "run") for x in starts):
            need(Graph(self, self.starting, start, length).words(start, length) <= begin, "more start_words")
        become = {self.image(w, 1) for w in strings_inside(words, longer, self.symbols)}
        need(become | {self.image(w, s) for w in begin} <= words, "more words")
        return words

    def rank(self, sets, words, m):
        """The sets have the words of the states in which Q has failed since P held."""
        failures, longer = self.failures([0]), m + 2 * self.radius
        need(0 < len(sets) <= self.horizon + 1 and sets[-1] == [], "at most H + 1 sets, the last one empty")
        for expected in (self.word_set(x, m) for x in sets):
            for way in (readable(x, "start") for x in failures):
                need(Graph(self, words, way).words(way, m) <= expected, "more words in a set")
            words = {self.image(w, 1) for w in Graph(self, expected, [], longer).words([], longer)}
            failures = self.ways(self.q, False)

    def refutation(self, refutation, words, s, case, *moved):
        """Check a refutation of a case; in `moved` the running step is put at 0, at 1."""
        [(kind, value)], unit = refutation.items(), "unit:int multipliers:list"
        given = fields(value, {"empty": "", "heaviest": unit, "bounded": unit + " invariant:list",
                               "modulo": "k:int form:list"}[kind])
        shown, start, state = (readable(case, hidden) for hidden in (None, "run", "start"))
        running, rest = {}, {ONE: 1}                            # never positive if there is no walk
        if kind in ("heaviest", "bounded"):
            running, rest = self.combination(*given[:2], case)
        for t, way in enumerate(map(readable, moved[:s])):
            total = plus(shift(running, t, "start"), rest)
            need(any(self.never(self.starting, way, way, f) for f in ({ONE: 1}, total)), f"no walk at {t}")
        if kind in ("empty", "heaviest"):
            need(rest.keys() <= {ONE} and self.never(words, shown, state, plus(running, rest)), "no walk")
        elif kind == "bounded":
            invariant = self.count_list(given[2])
            first = plus(shift(invariant, s, "start"), rest)
            need(self.never(self.starting, start, start, first), "a smaller invariant at the start")
            need(self.never(words, [], [], growth(invariant)), "an invariant that never grows")
            need(self.never(words, shown, state, plus(running, invariant, -1)), "a larger invariant")
        else:
            k, form = given[0], self.count_list(given[1], now=True)
            need(1 <= k <= BIG, "k from 1 to 2^32")
            graph, sums = Graph(self, words, [growth(form)]), {}
            edges = [(w[:-1], x, w[1:]) for w, (x, _) in zip(graph.windows, graph.weights(growth(form)))]
            for node, _, _ in edges:
                sums |= {} if node in sums else settled({node: 0}, edges, lambda old, _: old)
            need(all((sums[a] + x - sums[b]) % k == 0 for a, x, b in edges), "a k that divides each change")
            fixed = readable([self.from_start(f, [form], s, k) for f in shown], "run")
            need(self.never(self.starting, fixed, fixed, {ONE: 1}), "no walk of the start")

    def never(self, words, shown, inequalities, f):
        """Whether f is never positive on a walk that the inequalities accept, in a graph that shows forms."""
        graph, constant, goals = Graph(self, words, shown + [f]), f.get(ONE, 0), {}
        (edges, begins, ends), weights = graph.walks(inequalities), graph.weights(f)
        edges = [(bits, (a, weights[i][0], b)) for a, i, b, bits in edges]
        for end, bit in ends.items():
            goals.setdefault(bit, []).append(end)
        height = settled({x: 0 for _, (a, _, b) in edges for x in (a, b)}, [edge for _, edge in edges], max)
        if height is None:                              # a circle is positive
            return False
        for begin, bit in begins.items():
            most = max((height[end] for end in goals.get(bit, []) if end in height), default=-math.inf)
            if constant + most - height.get(begin, 0) > 0:      # else no walk that begins here is positive
                sums = settled({begin: 0}, [edge for bits, edge in edges if bits & bit], max)
                if sums is None or any(constant + sums.get(end, -math.inf) > 0 for end in goals[bit]):
                    return False
        return True


class Graph:
    """The window graph of a set of words that shows some forms: its windows that lie on closed walks."""

    def __init__(self, proof, words, shown, width=1, most=9):
        """Find the windows; a graph that may be wider than 9 is that of a lemma."""
        read, r = [v for f in shown for v in variables(f) if v.base], proof.radius
        self.proof, self.lead = proof, r * max((v.delay for v in read if v.kind != "Cells"), default=0)
        width = max([width, *map(len, words)] + [
            max(2 * r * v.delay, self.lead + r * v.delay) + (v.detail[-1][0] if v.kind == "Cells" else 0) + 1
            for v in read])
        symbols = proof.symbols if most == 9 else words
        need(width <= most and len(symbols) ** width <= MOST_WINDOWS, "fewer windows")
        self.windows = strings_inside(words, width, proof.symbols)
        if max(map(len, words), default=0) > 1:
            self.windows = [self.windows[i] for i in sorted({i for _, i, _, _ in self.walks([])[0]})]

    def weights(self, f):
        """The weights of each window at an even and at an odd edge, of a form of Length, Cells and Even."""
        total = [(f.get(LENGTH, 0), f.get(LENGTH, 0))] * len(self.windows)
        for v in f.keys() - {ONE, LENGTH}:
            first = max(0, self.lead - self.proof.radius * v.delay)
            for i, window in enumerate(self.windows):
                image = self.proof.image(window[first:], v.delay)
                if all(image[offset] == symbol for offset, symbol in v.detail):
                    total[i] = total[i][0] + f[v], total[i][1] + f[v] * (v.kind != "Even")
        return total

    def automaton(self, f):
        """The automaton of f <= 0: (first state, step, accepts), or None if it restricts no walk. A state
        begins with a value; a step gives None if no state that follows can accept."""
        constant, f, k, start, distance = f.get(ONE, 0), without(f, None), 0, 0, 0
        pair = sorted(f, key=f.get, reverse=True)
        if [(v.kind, f[v]) for v in pair] == [("Leftmost", 1), ("Leftmost", -1)] and constant in (0, 1):
            if pair[0][1:3] == pair[1][1:3]:                    # at the same moment
                f = {pair[0]._replace(kind="Order", detail=pair[0].detail + pair[1].detail): 1}
        v, factor = next(iter(f.items()), (LENGTH, 1))
        if v.kind == "%" and len(f) == 1:
            f, k, start = without(dict(v.detail[0]), None), *(dict(g).get(ONE, 0) for g in v.detail[::-1])
            v = next(iter(f))
        if {w.kind for w in f} <= {"Length", "Cells", "Even"}:
            readings, meter, first = self.weights(f), METERS["Sum"], (start, 0)
            weights = list(itertools.chain(*readings))
            if not k:
                factor = (math.gcd(*weights) or 1) * (-1 if min(weights, default=0) < 0 else 1)
                readings = [(even // factor, odd // factor) for even, odd in readings]
            if not k and max(weights, default=0) > 0 > factor:
                return None                                     # weights of both signs
        elif len(f) == 1 and v.kind in METERS and (not k or f == {v: 1} and v.kind == "Inside"):
            distance, meter = v.detail[-1][0], METERS[v.kind]
            first = start + self.proof.limits(v)[1][ONE], *[0] * min(distance or 1, 7)
            cells = [{Variable("Cells", *v[1:3], ((0, symbol),)): 1} for _, symbol in v.detail]
            readings = [(hit, last) for (hit, _), (last, _) in zip(*map(self.weights, (cells[0], cells[-1])))]
        else:
            return None
        limit = 16 if k or v.kind == "Order" else -constant // factor if factor > 0 else -(constant // factor)
        if limit > 16 or abs(k) > 8 or distance > 6 and limit >= first[0]:
            return None

        def step(state, edge):
            """The state after an edge; values above the limit are alike."""
            value, *memory = meter(state, *readings[edge])
            value = value % k if k else min(value, limit + 1)
            return None if factor > 0 and value > limit else (value, *memory)

        return (first[0] % k if k else first[0], *first[1:]), step, lambda s: factor * s[0] + constant <= 0

    def walks(self, inequalities):
        """The edges (state, window, next state, bits) of the accepted walks, with a bit for each node where
        such a walk may begin; and the states in which walks begin and end, with their bits. A state is a node
        and those of the automata; a first one has a mark, so that no walk comes back to it."""
        automata, leaving = [a for a in map(self.automaton, inequalities) if a], {}
        for i, window in enumerate(self.windows):
            leaving.setdefault(window[:-1], []).append((i, window[1:]))
        firsts, bits = [first for first, _, _ in automata], {node: 1 << i for i, node in enumerate(leaving)}
        begins, edges = {(node, *firsts, "first"): bit for node, bit in bits.items()}, []
        todo, known = list(begins), set(begins)
        for state in todo:                              # grows while it is read
            need(len(edges) <= MOST_STEPS and len(todo) * len(bits) <= 100 * MOST_STEPS, "fewer steps")
            for i, node in leaving.get(state[0], []):
                after = (node, *(step(x, i) for (_, step, _), x in zip(automata, state[1:])))
                if None not in after:
                    todo += [] if after in known else [after]
                    known.add(after)
                    edges.append((state, i, after))
        ends = {state: bits.get(state[0], 0) for state in todo if state not in begins and all(
            accepts(x) for (_, _, accepts), x in zip(automata, state[1:]))}
        ahead = settled(dict(begins), [(a, 0, b) for a, _, b in edges], int.__or__)
        behind = settled(dict(ends), [(b, 0, a) for a, _, b in reversed(edges)], int.__or__)
        need(ahead is not None is not behind, "fewer steps")
        edges = [(a, i, b, ahead[a] & behind.get(b, 0)) for a, i, b in edges]
        return [edge for edge in edges if edge[3]], begins, ends

    def words(self, inequalities, length):
        """The strings of a length at the beginning of windows on walks that the inequalities accept."""
        return {self.windows[i][:length] for _, i, _, _ in self.walks(inequalities)[0]}


def once(pairs):
    """An object, in which no key may occur twice."""
    need(len(dict(pairs)) == len(pairs), "each key once")
    return dict(pairs)


def judge(proof):
    """Whether a proof holds, in words."""
    try:
        Proof(proof)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as fault:
        return f"does not hold: {type(fault).__name__}: {ascii(str(fault))[1:-1][:300]}"
    return "holds"


def main(names):
    """Check all files; gives the exit code."""
    codes, decoder = [0 if names else 2], json.JSONDecoder(object_pairs_hook=once)
    for name in names:
        values, proofs = [], []
        try:
            text = (sys.stdin.buffer if name == "-" else open(name, "rb")).read().decode("utf-8").lstrip()
            while text:
                value, end = decoder.raw_decode(text)
                values += value if type(value) is list else [value]
                text = text[end:].lstrip()
            values = [x.get("evidence", {"proof": x}).get("proof") for x in values if type(x) is dict and x]
            proofs = [x for x in values if x is not None]
            need(proofs, "a proof")
        except (AttributeError, OSError, RecursionError, ValueError) as fault:
            print(ascii(f"{name}: {fault}"), file=sys.stderr)
            codes.append(2)
        for i, proof in enumerate(proofs, 1):
            verdict = judge(proof)
            print(f"{ascii(name)} {i}: {verdict}")
            codes.append(0 if verdict == "holds" else 4)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
