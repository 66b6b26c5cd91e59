//! The claim grammar in order of size, a stream for each template.

use std::iter;

use popper_harness::law::syntax::Op;
use popper_harness::law::{Expr, Template};
use popper_harness::universe::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::additive::{PatternBasis, PatternDeltas, combinations, counted};
use super::draft::{LawDraft, next, now, start};
use super::observations::ObservationMatrix;
use crate::snapshot::UniverseContract;

/// A lazy sequence of drafts.
pub(super) type Stream<'a> = Box<dyn Iterator<Item = LawDraft> + 'a>;

/// The widest patterns of a conserved sum, in cells.
const WIDEST: usize = 3;
/// The bound on the coefficients of a sum of conserved sums.
const LARGEST: i64 = 8;
/// The limit of constants and coefficients, far beyond what a run reaches.
const FAR: i64 = 1000;

/// The expressions and transforms of a universe, in an order that the seed chooses.
pub(super) struct GrammarEnumerator<'a> {
    contract: &'a UniverseContract,
    evidence: &'a ObservationMatrix,
    /// The symbols but the background.
    foreground: Vec<Symbol>,
    /// The counts of the symbols, the background last.
    counts: Vec<String>,
    /// The counts of the symbols but the background.
    some: Vec<String>,
    /// The counts of pairs of neighbours.
    pairs: Vec<String>,
    transforms: Vec<String>,
}

fn shuffle<T>(items: &mut [T], rng: &mut ChaCha20Rng) {
    for last in (1..items.len()).rev() {
        let other = (rng.next_u64() % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

fn is(expr: Expr, number: i64) -> Expr {
    expr.op(Op::Eq, number)
}

fn least(expr: Expr, number: i64) -> Expr {
    expr.op(Op::Ge, number)
}

/// Takes one draft of each stream in turn, until all have ended.
pub(super) fn in_turn<'a>(streams: Vec<Stream<'a>>) -> Stream<'a> {
    let mut streams: std::collections::VecDeque<Stream<'a>> = streams.into();
    Box::new(iter::from_fn(move || {
        loop {
            let mut stream = streams.pop_front()?;
            if let Some(draft) = stream.next() {
                streams.push_back(stream);
                return Some(draft);
            }
        }
    }))
}

impl<'a> GrammarEnumerator<'a> {
    pub(super) fn new(
        contract: &'a UniverseContract,
        evidence: &'a ObservationMatrix,
        seed: u64,
    ) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut foreground: Vec<Symbol> = (1..contract.symbols.len() as Symbol).collect();
        shuffle(&mut foreground, &mut rng);
        let char = |symbol: Symbol| contract.symbols[usize::from(symbol)];
        let count = |symbol: &Symbol| counted(iter::once(char(*symbol)));
        let some: Vec<String> = foreground.iter().map(count).collect();
        let background = contract.symbols.first().map(|_| count(&0));
        let mut pairs: Vec<String> = foreground
            .iter()
            .flat_map(|&left| {
                let pair = move |&right: &Symbol| counted([char(left), char(right)].into_iter());
                foreground.iter().map(pair)
            })
            .collect();
        shuffle(&mut pairs, &mut rng);
        let mut transforms = contract.transforms.clone();
        shuffle(&mut transforms, &mut rng);
        transforms.insert(transforms.len().min(1), "shift_k".into());
        Self {
            counts: some.iter().cloned().chain(background).collect(),
            contract,
            evidence,
            foreground,
            some,
            pairs,
            transforms,
        }
    }

    /// Sums of counts of symbols and pairs that no observed step has changed.
    pub(super) fn invariants(&'a self) -> Stream<'a> {
        // What is conserved, and of each two their shortest sums: more of them would only say the same again.
        let singles = self.spaces(1).flat_map(|(patterns, basis)| {
            let most = basis.len() * basis.len();
            let sums = combinations(&basis, 2).into_iter().take(most);
            self.sums(&patterns, &sums.collect::<Vec<_>>())
        });
        let pairs = self.spaces(2);
        let pairs = pairs.flat_map(|(patterns, basis)| self.sums(&patterns, &basis));
        in_turn(vec![Box::new(singles), Box::new(pairs)])
    }

    /// The same with wider patterns and larger coefficients.
    pub(super) fn wide_invariants(&'a self) -> Stream<'a> {
        let wide = (3..=WIDEST).flat_map(|width| {
            let space = self.spaces(width);
            space.flat_map(|(patterns, basis)| self.sums(&patterns, &basis))
        });
        let large = |width| -> Stream<'a> {
            Box::new(self.spaces(width).flat_map(move |(patterns, basis)| {
                (2..LARGEST).flat_map(move |most| self.sums(&patterns, &combinations(&basis, most)))
            }))
        };
        Box::new(wide.chain(in_turn(vec![large(1), large(2)])))
    }

    /// Patterns of a width, and the sums of their counts that no observed step has changed. They are computed on demand, since wide
    /// patterns take time.
    fn spaces(&'a self, width: usize) -> impl Iterator<Item = (PatternBasis, Vec<Vec<i64>>)> + 'a {
        iter::once(()).filter_map(move |()| {
            let patterns = PatternBasis::new(&self.foreground, width)?;
            let basis = PatternDeltas::of(&patterns, self.evidence).conserved(patterns.len());
            Some((patterns, basis))
        })
    }

    fn sums(&self, patterns: &PatternBasis, vectors: &[Vec<i64>]) -> Vec<LawDraft> {
        let vectors = vectors
            .iter()
            .filter(|vector| vector.iter().any(|&entry| entry != 0));
        let symbols = &self.contract.symbols;
        vectors
            .map(|vector| LawDraft::invariant(&patterns.expression(vector, symbols), 40))
            .collect()
    }

    /// Sums of counts that may only grow, or only fall.
    pub(super) fn monotone(&'a self) -> Stream<'a> {
        let law =
            |expr: &str, op| LawDraft::new(Template::Monotone, 30, next(expr).op(op, now(expr)));
        let both = move |expr: String| [law(&expr, Op::Le), law(&expr, Op::Ge)];
        let all = || self.counts.iter().chain(&self.pairs);
        let sums = move || {
            all().enumerate().flat_map(move |(place, left)| {
                all().skip(place + 1).flat_map(move |right| {
                    [format!("{left} + {right}"), format!("{left} - {right}")]
                })
            })
        };
        let weighted = (2..FAR).flat_map(move |factor| {
            all().flat_map(move |left| {
                let others = all().filter(move |right| *right != left);
                others.flat_map(move |right| {
                    [
                        format!("{factor}*{left} + {right}"),
                        format!("{factor}*{left} - {right}"),
                    ]
                })
            })
        });
        // What was never seen to change belongs to the invariants.
        let moves = |expr: &String| self.evidence.moves(expr);
        let all = all().cloned().chain(sums()).chain(weighted);
        Box::new(all.filter(moves).flat_map(both))
    }

    /// Upper and lower bounds of counts.
    pub(super) fn bounds(&'a self) -> Stream<'a> {
        let law = |claim| LawDraft::new(Template::Bound, 40, claim);
        let constant = move |number: i64| {
            let counts = self.counts.iter();
            counts.map(move |a| law(now(a).op(Op::Le, number)))
        };
        let starts = self.counts.iter().flat_map(move |a| {
            let others = self.counts.iter();
            others.map(move |b| law(now(a).op(Op::Le, start(b))))
        });
        let share = self.some.iter().map(move |a| {
            let twice = Expr::from(2).op(Op::Mul, now(a));
            law(twice.op(
                Op::Le,
                Expr::Obs(
                    "grid_length".into(),
                    popper_harness::law::syntax::Time::At(0),
                ),
            ))
        });
        let remains = self
            .counts
            .iter()
            .map(move |a| law(now(a).op(Op::Ge, start(a))));
        let pairs = self.pairs.iter().flat_map(move |p| {
            let counts = self.some.iter();
            counts.map(move |a| law(now(p).op(Op::Le, start(a))))
        });
        in_turn(vec![
            // Each is refuted by some ring that is large enough.
            Box::new((2..FAR).flat_map(constant)),
            Box::new(starts),
            Box::new(share),
            Box::new(remains),
            Box::new(pairs),
        ])
    }

    /// Implications from a state to the next one.
    pub(super) fn steps(&'a self) -> Stream<'a> {
        let law = |claim| LawDraft::new(Template::ImplicationStep, 30, claim);
        let incoming = || {
            let names = ["incoming_collisions"].into_iter();
            names.take(usize::from(self.contract.has_incoming))
        };
        let announced = incoming().flat_map(move |inc| {
            let some = self.some.iter();
            some.flat_map(move |b| {
                [
                    law(least(now(inc), 1).then(least(next(b), 1))),
                    law(least(now(inc), 1).then(next(b).op(Op::Eq, now(inc)))),
                    law(is(now(inc), 0).then(is(next(b), 0))),
                ]
            })
        });
        let gone = self.some.iter().flat_map(move |a| {
            let counts = self.some.iter();
            counts.map(move |b| law(is(now(a), 0).then(is(next(b), 0))))
        });
        let stays = self.counts.iter().flat_map(move |a| {
            let counts = self.counts.iter();
            counts.map(move |b| law(least(now(a), 1).then(least(next(b), 1))))
        });
        let pairs = self.pairs.iter().flat_map(move |p| {
            let counts = self.counts.iter();
            counts.flat_map(move |b| {
                [
                    law(least(now(p), 1).then(least(next(b), 1))),
                    law(is(now(p), 0).then(is(next(b), 0))),
                ]
            })
        });
        let both = self.both(now).flat_map(move |p| {
            let counts = self.some.iter();
            counts.map(move |c| law(p.clone().then(is(next(c), 0))))
        });
        let first = in_turn(vec![Box::new(announced), Box::new(gone), Box::new(stays)]);
        let second = in_turn(vec![Box::new(pairs), Box::new(both)]);
        let far = self.thresholds(next).map(law);
        Box::new(first.chain(second).chain(far))
    }

    /// Implications within a state, or from the start to a later state.
    pub(super) fn states(&'a self) -> Stream<'a> {
        let law = |claim| LawDraft::new(Template::ImplicationState, 30, claim);
        let some = || self.some.iter();
        let never =
            some().flat_map(move |a| some().map(move |b| law(is(start(a), 0).then(is(now(b), 0)))));
        let had = some()
            .flat_map(move |a| some().map(move |b| law(least(now(a), 1).then(least(start(b), 1)))));
        let together = some().flat_map(move |a| {
            let others = some().filter(move |b| *b != a);
            others.map(move |b| law(least(now(a), 1).then(least(now(b), 1))))
        });
        let both = self
            .both(start)
            .flat_map(move |p| some().map(move |c| law(p.clone().then(is(now(c), 0)))));
        let pairs = self.pairs.iter().flat_map(move |pair| {
            some().flat_map(move |a| {
                [
                    law(is(start(a), 0).then(is(now(pair), 0))),
                    law(least(now(pair), 1).then(least(start(a), 1))),
                ]
            })
        });
        let first = in_turn(vec![Box::new(never), Box::new(had), Box::new(together)]);
        let second = in_turn(vec![Box::new(both), Box::new(pairs)]);
        let far = self.thresholds(start).map(law);
        Box::new(first.chain(second).chain(far))
    }

    /// Implications whose consequent holds within a window of steps.
    pub(super) fn eventually(&'a self) -> Stream<'a> {
        let law = |h: u64, claim| LawDraft {
            h: Some(h),
            ..LawDraft::new(Template::Eventually, 24, claim)
        };
        let announced = ["incoming_collisions"]
            .into_iter()
            .take(usize::from(self.contract.has_incoming))
            .flat_map(move |inc| {
                let some = self.some.iter().rev();
                some.map(move |b| law(1, least(now(inc), 1).then(least(now(b), 1))))
            });
        let windows = [4, 2, 8, 1, 16, 32].into_iter().chain(33..FAR as u64);
        let general = windows.flat_map(move |h| {
            self.counts.iter().flat_map(move |a| {
                let counts = self.counts.iter();
                counts.flat_map(move |b| {
                    // "a holds, then a holds" is empty.
                    let comes = (a != b).then(|| law(h, least(now(a), 1).then(least(now(b), 1))));
                    let goes = law(h, least(now(a), 1).then(is(now(b), 0)));
                    comes.into_iter().chain([goes])
                })
            })
        });
        in_turn(vec![Box::new(announced), Box::new(general)])
    }

    /// The transforms that may commute with the step.
    pub(super) fn symmetries(&'a self) -> Stream<'a> {
        let transforms = self.transforms.iter();
        Box::new(transforms.map(|transform| LawDraft::symmetry(transform, 40)))
    }

    /// Conditions that two symbols are both absent.
    fn both(&'a self, at: fn(&str) -> Expr) -> impl Iterator<Item = Expr> + 'a {
        let some = self.some.iter().enumerate();
        some.flat_map(move |(place, a)| {
            let others = self.some[place + 1..].iter();
            others.map(move |b| is(at(a), 0).op(Op::And, is(at(b), 0)))
        })
    }

    /// Implications between thresholds of counts: in effect endless.
    fn thresholds(&'a self, at: fn(&str) -> Expr) -> impl Iterator<Item = Expr> + 'a {
        (2..FAR).flat_map(move |p| {
            (1..=p).flat_map(move |q| {
                let all = || self.counts.iter().chain(&self.pairs);
                all().flat_map(move |a| {
                    all().filter(move |b| *b != a).map(move |b| {
                        // The start is what is spoken of where the claim is about one state and another.
                        least(now(a), p).then(least(at(b), q))
                    })
                })
            })
        })
    }
}
