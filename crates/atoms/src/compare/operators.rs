//! Operators: matched by class and by what their clauses share.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::open::{Open, Pair};
use super::{Finding, negations};
use crate::atom::{Atom, Atoms, Clause, Kind};

/// Classes that say the same, the first one in a sentence with a negation: *not open unless* and *open only if*.
const TRADES: [(&str, &str); 8] = [
    ("unless", "only_if"),
    ("if", "unless"),
    ("provided", "unless"),
    ("before", "after"),
    (">", "<="),
    ("<", ">="),
    (">=", "<"),
    ("<=", ">"),
];

/// Matches the operators of two texts.
pub(super) fn compare(original: &Atoms, decoded: &Atoms, findings: &mut Vec<Finding>) {
    let mut negated = Pair::of(original, decoded, Kind::Negation);
    let mut conditions = Pair::of(original, decoded, Kind::Condition);
    matched(&mut conditions, 1, is_same);
    exceptions(&mut conditions, &mut negated, &["without"]);
    matched(&mut negated, 1, |_, _| true);
    trade(&mut conditions, &mut negated);
    exceptions(&mut conditions, &mut negated, &[]);
    finish(Kind::Condition, conditions, &mut negated, findings);
    for kind in [Kind::Order, Kind::Quantifier, Kind::Comparison] {
        let mut open = Pair::of(original, decoded, kind);
        let said = matched(&mut open, 1, is_same);
        if kind == Kind::Order {
            for &(one, other) in &said {
                if !untangle(one, other, &mut negated)
                    && has_turned(&original.all[one], &decoded.all[other])
                {
                    findings.push(open.changed(one, other));
                }
            }
        }
        finish(kind, open, &mut negated, findings);
    }
    negations::excuse(&mut negated);
    let mut modalities = Pair::of(original, decoded, Kind::Modality);
    // Those of prohibitions that were said in another way.
    modalities
        .original
        .places
        .retain(|place| !negated.original.is_traded(*place));
    modalities
        .decoded
        .places
        .retain(|place| !negated.decoded.is_traded(*place));
    matched(&mut modalities, 1, is_same);
    finish(Kind::Modality, modalities, &mut negated, findings);
    negations::compare(negated, findings);
}

/// Reports what a kind has left after the matching of its clauses.
fn finish(kind: Kind, mut open: Pair<'_>, negated: &mut Pair<'_>, findings: &mut Vec<Finding>) {
    trade(&mut open, negated);
    for (one, other) in matched(&mut open, 0, is_same) {
        let is_sequence = matches!(
            &*open.original.atom(one).canonical,
            "first" | "last" | "then"
        );
        if is_sequence && has_moved(&open, one, other) {
            findings.push(open.changed(one, other));
        }
    }
    for (one, other) in matched(&mut open, 1, |one, other| is_contrary(kind, one, other)) {
        findings.push(open.changed(one, other));
    }
    findings.extend(open.rest());
}

/// Matches atoms that fit and whose clauses share `least` stems, those with the most first, and removes them.
fn matched(
    open: &mut Pair<'_>,
    least: usize,
    fits: impl Fn(&Atom, &Atom) -> bool,
) -> Vec<(usize, usize)> {
    let mut candidates = Vec::new();
    for &one in &open.original.places {
        for &other in &open.decoded.places {
            let (ours, theirs) = (open.original.atom(one), open.decoded.atom(other));
            if !fits(ours, theirs) {
                continue;
            }
            let shared = open.shared(one, other);
            if shared >= least {
                let is_same = ours.canonical == theirs.canonical;
                candidates.push((Reverse((is_same, shared)), one.abs_diff(other), one, other));
            }
        }
    }
    candidates.sort_unstable();
    let mut pairs = Vec::new();
    for (_, _, one, other) in candidates {
        if open.original.places.contains(&one) && open.decoded.places.contains(&other) {
            open.original.remove(one);
            open.decoded.remove(other);
            pairs.push((one, other));
        }
    }
    pairs
}

/// Removes operators that one text says with a negation and the other without.
fn trade(open: &mut Pair<'_>, negated: &mut Pair<'_>) {
    for one in open.original.places.clone() {
        for other in open.decoded.places.clone() {
            let (ours, theirs) = (
                &*open.original.atom(one).canonical,
                &*open.decoded.atom(other).canonical,
            );
            let (left, right) = ((ours, theirs), (theirs, ours));
            if !TRADES.contains(&left) && !TRADES.contains(&right) || open.shared(one, other) == 0 {
                continue;
            }
            let is_said = TRADES.contains(&left)
                && negated.original.remove_in(open.original.sentence(one))
                || TRADES.contains(&right)
                    && negated.decoded.remove_in(open.decoded.sentence(other));
            if is_said {
                open.original.remove(one);
                open.decoded.remove(other);
                break;
            }
        }
    }
}

/// Removes the negation of *does not load until you run it* where the other text says *run it before it loads*.
fn untangle(one: usize, other: usize, negated: &mut Pair<'_>) -> bool {
    let (ours, theirs) = (negated.original.atom(one), negated.decoded.atom(other));
    if ours.canonical != "before" || !ours.head.is_disjoint(&theirs.head) {
        return false;
    }
    let sentences = (
        negated.original.sentence(one),
        negated.decoded.sentence(other),
    );
    negated.original.remove_in(sentences.0) | negated.decoded.remove_in(sentences.1)
}

/// Removes *unless* and *only if* where the other text says them by a negation, of these words if there are any, or by *only*.
fn exceptions(open: &mut Pair<'_>, negated: &mut Pair<'_>, words: &[&str]) {
    let (ours, theirs) = (open.original.atoms, open.decoded.atoms);
    open.original.places.retain(|place| {
        !is_excepted(
            ours,
            *place,
            &mut negated.original,
            &mut negated.decoded,
            words,
        )
    });
    open.decoded.places.retain(|place| {
        !is_excepted(
            theirs,
            *place,
            &mut negated.decoded,
            &mut negated.original,
            words,
        )
    });
}

fn is_excepted(
    atoms: &Atoms,
    place: usize,
    own: &mut Open<'_>,
    other: &mut Open<'_>,
    words: &[&str],
) -> bool {
    let class = &*atoms.all[place].canonical;
    if !matches!(class, "unless" | "only_if") {
        return false;
    }
    let head = &atoms.all[place].head;
    let others = other.atoms;
    let is_word =
        |it: usize| words.is_empty() || others.words_of(it).any(|word| words.contains(&word));
    let near = |it: &usize| is_word(*it) && !others.clause_of(*it).stems.is_disjoint(head);
    if let Some(negation) = other.places.iter().copied().find(near) {
        other.remove(negation);
        return true;
    }
    let says_only =
        |it: &Clause| it.words.iter().any(|word| word == "only") && !it.stems.is_disjoint(head);
    words.is_empty()
        && others.clauses.iter().any(says_only)
        && (class == "only_if" || own.remove_in(atoms.clause_of(place).sentence))
}

fn shared(one: &BTreeSet<String>, other: &BTreeSet<String>) -> usize {
    one.intersection(other).count()
}

/// Whether what is before and after two operators of one class changed sides: *heat, then stir* and *stir, then heat*.
fn has_turned(one: &Atom, other: &Atom) -> bool {
    let kept = shared(&one.head, &other.head) + shared(&one.tail, &other.tail);
    let (first, last) = (
        shared(&one.head, &other.tail),
        shared(&one.tail, &other.head),
    );
    matches!(&*one.canonical, "then" | "before" | "after")
        && first > 0
        && last > 0
        && first + last > kept
}

/// Whether the words after two operators of one class are in other clauses of the other text.
fn has_moved(open: &Pair<'_>, one: usize, other: usize) -> bool {
    let is_elsewhere = |from: &Open<'_>, place: usize, to: &Open<'_>, not: usize| {
        let head = &from.atom(place).head;
        let clause = to.atom(not).clause;
        to.atoms.clauses.iter().enumerate().any(|(number, it)| {
            let shared = shared(&it.stems, head);
            number != clause && shared > 0 && shared * 2 >= head.len()
        })
    };
    is_elsewhere(&open.original, one, &open.decoded, other)
        && is_elsewhere(&open.decoded, other, &open.original, one)
}

/// Whether two operators say the same. *Provided that* is said for *if* and for *only if*.
fn is_same(one: &Atom, other: &Atom) -> bool {
    let classes = (&*one.canonical, &*other.canonical);
    classes.0 == classes.1
        || matches!(
            classes,
            ("provided", "if" | "only_if") | ("if" | "only_if", "provided")
        )
}

/// Whether two operators contradict each other. *X before Y* and *Y after X* do not.
fn is_contrary(kind: Kind, one: &Atom, other: &Atom) -> bool {
    if kind != Kind::Order {
        return !is_same(one, other);
    }
    match (&*one.canonical, &*other.canonical) {
        ("before", "after") | ("after", "before") => !one.head.is_disjoint(&other.head),
        ("first", "last") | ("last", "first") => true,
        _ => false,
    }
}
