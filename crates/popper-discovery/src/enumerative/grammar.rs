//! The claim grammar in order of size, a stream for each template.

use std::iter;
use std::sync::OnceLock;

use popper_harness::law::syntax::Op;
use popper_harness::law::{Expr, Template};
use popper_harness::universe::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::additive::{PatternBasis, PatternDeltas, combinations, counted};
use super::draft::{LawDraft, next, now, start};
use super::observations::ObservationMatrix;
use crate::rank::sha256;
use crate::snapshot::UniverseContract;

/// A lazy sequence of drafts.
pub(super) type Stream<'a> = BoxedIterator<'a, LawDraft>;
/// A stream in which `None` stands for a draft that the observations leave out, so that its positions do not depend on them.
pub(super) type DraftSequence<'a> = BoxedIterator<'a, Option<LawDraft>>;
pub(super) type BoxedIterator<'a, T> = Box<dyn Iterator<Item = T> + Send + 'a>;
/// Patterns, and the sums of their counts that no observed step has changed.
type ConservedSpace = (PatternBasis, Vec<Vec<i64>>);

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
    /// The spaces of patterns of up to 1, 2, .. cells, once they were asked for: wide patterns take time.
    spaces: [OnceLock<Option<ConservedSpace>>; WIDEST],
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
pub(super) fn in_turn<'a, T: 'a>(streams: Vec<BoxedIterator<'a, T>>) -> BoxedIterator<'a, T> {
    let mut streams: std::collections::VecDeque<BoxedIterator<'a, T>> = streams.into();
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

/// The drafts of a short stream, then those of a long one, after this many. The long one skips by itself.
fn then<'a, F: Iterator<Item = LawDraft> + Send + 'a>(
    mut short: Stream<'a>,
    skip: usize,
    long: impl FnOnce(usize) -> F,
) -> Stream<'a> {
    for skipped in 0..skip {
        if short.next().is_none() {
            return Box::new(long(skip - skipped));
        }
    }
    Box::new(short.chain(long(0)))
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
            spaces: [const { OnceLock::new() }; WIDEST],
        }
    }

    /// A digest of the sums of counts up to some width that no observed step has changed. The walks over invariants and monotone
    /// laws follow from them.
    pub(super) fn conserved_digest(&self, width: usize) -> String {
        let spaces = (1..=width).map(|width| self.space(width).map(|(_, basis)| basis));
        let mut digest = sha256(&format!("{:?}", spaces.collect::<Vec<_>>()));
        digest.truncate(16);
        digest
    }

    /// Sums of counts of symbols and pairs that no observed step has changed.
    pub(super) fn invariants(&'a self) -> Stream<'a> {
        // What is conserved, and of each two their shortest sums: more of them would only say the same again.
        let singles = self.spaces(1).flat_map(|(patterns, basis)| {
            let most = basis.len() * basis.len();
            let sums = combinations(basis, 2).into_iter().take(most);
            self.sums(patterns, &sums.collect::<Vec<_>>())
        });
        let pairs = self.spaces(2);
        let pairs = pairs.flat_map(|(patterns, basis)| self.sums(patterns, basis));
        in_turn(vec![Box::new(singles), Box::new(pairs)])
    }

    /// The same with wider patterns and larger coefficients.
    pub(super) fn wide_invariants(&'a self) -> Stream<'a> {
        let wide = (3..=WIDEST).flat_map(|width| {
            let space = self.spaces(width);
            space.flat_map(|(patterns, basis)| self.sums(patterns, basis))
        });
        let large = |width| -> Stream<'a> {
            Box::new(self.spaces(width).flat_map(move |(patterns, basis)| {
                (2..LARGEST).flat_map(move |most| self.sums(patterns, &combinations(basis, most)))
            }))
        };
        Box::new(wide.chain(in_turn(vec![large(1), large(2)])))
    }

    /// The space of a width, `None` if there are too many patterns.
    fn space(&self, width: usize) -> Option<&ConservedSpace> {
        let space = self.spaces.get(width.checked_sub(1)?)?;
        let space = space.get_or_init(|| {
            let patterns = PatternBasis::new(&self.foreground, width)?;
            let basis = PatternDeltas::of(&patterns, self.evidence).conserved(patterns.len());
            Some((patterns, basis))
        });
        space.as_ref()
    }

    /// The space of a width, which is computed on demand.
    fn spaces(&'a self, width: usize) -> impl Iterator<Item = &'a ConservedSpace> + Send + 'a {
        iter::once(()).filter_map(move |()| self.space(width))
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

    /// Sums of counts that may only grow, or only fall, after this many.
    pub(super) fn monotone(&'a self, skip: usize) -> DraftSequence<'a> {
        let law =
            |expr: &str, op| LawDraft::new(Template::Monotone, 30, next(expr).op(op, now(expr)));
        // What was never seen to change belongs to the invariants.
        let both = move |expr: String| {
            let moves = self.evidence.moves(&expr);
            [Op::Le, Op::Ge].map(|op| moves.then(|| law(&expr, op)))
        };
        let all = || self.counts.iter().chain(&self.pairs);
        let sums = move || {
            all().enumerate().flat_map(move |(place, left)| {
                all().skip(place + 1).flat_map(move |right| {
                    [format!("{left} + {right}"), format!("{left} - {right}")]
                })
            })
        };
        let short: Vec<String> = all().cloned().chain(sums()).collect();
        let weighted = self.weighted((skip / 2).saturating_sub(short.len()));
        let all = short.into_iter().skip(skip / 2).chain(weighted);
        Box::new(all.flat_map(both).skip(skip % 2))
    }

    /// Sums of two counts of which the first has a factor, after this many. What is skipped costs a step of a counter.
    fn weighted(&'a self, skip: usize) -> impl Iterator<Item = String> + Send + 'a {
        let (levels, all) = (2..FAR, self.couples());
        let pairs = 2 * all.len();
        let levels = levels.skip(skip.checked_div(pairs).unwrap_or(0));
        let places = levels.flat_map(move |factor| (0..pairs).map(move |place| (factor, place)));
        let places = places.skip(skip.checked_rem(pairs).unwrap_or(0));
        places.map(move |(factor, place)| {
            let (left, right) = all[place / 2];
            let sign = ['+', '-'][place % 2];
            format!("{factor}*{left} {sign} {right}")
        })
    }

    /// The counts of symbols and pairs, each with each other one.
    fn couples(&self) -> Vec<(&String, &String)> {
        let all = || self.counts.iter().chain(&self.pairs).enumerate();
        let with = |(place, left)| {
            let others = all().filter(move |(other, _)| *other != place);
            others.map(move |(_, right)| (left, right))
        };
        all().flat_map(with).collect()
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

    /// Implications from a state to the next one, after this many.
    pub(super) fn steps(&'a self, skip: usize) -> Stream<'a> {
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
        let far = move |skip| self.thresholds(next, skip).map(law);
        then(Box::new(first.chain(second)), skip, far)
    }

    /// Implications within a state, or from the start to a later state, after this many.
    pub(super) fn states(&'a self, skip: usize) -> Stream<'a> {
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
        let far = move |skip| self.thresholds(start, skip).map(law);
        then(Box::new(first.chain(second)), skip, far)
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
    fn both(&'a self, at: fn(&str) -> Expr) -> impl Iterator<Item = Expr> + Send + 'a {
        let some = self.some.iter().enumerate();
        some.flat_map(move |(place, a)| {
            let others = self.some[place + 1..].iter();
            others.map(move |b| is(at(a), 0).op(Op::And, is(at(b), 0)))
        })
    }

    /// Implications between thresholds of counts, after this many: in effect endless. What is skipped costs a step of a counter.
    fn thresholds(
        &'a self,
        at: fn(&str) -> Expr,
        skip: usize,
    ) -> impl Iterator<Item = Expr> + Send + 'a {
        let all = self.couples();
        let couples = all.len();
        let levels = (2..FAR).flat_map(|p| (1..=p).map(move |q| (p, q)));
        let levels = levels.skip(skip.checked_div(couples).unwrap_or(0));
        let places = levels.flat_map(move |level| (0..couples).map(move |couple| (level, couple)));
        let places = places.skip(skip.checked_rem(couples).unwrap_or(0));
        places.map(move |((p, q), couple)| {
            let (a, b) = all[couple];
            // The start is what is spoken of where the claim is about one state and another.
            least(now(a), p).then(least(at(b), q))
        })
    }
}
