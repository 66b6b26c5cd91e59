//! The empirical content of a law: the histories that it forbids, measured without running the universe.
//!
//! A law says more if it forbids more. The content is counted on a fixed sample of imagined histories: states of small rings
//! at 0, t and t + 1 that resemble each other as the states of a rule would, but follow no rule. So two laws can be compared
//! before either is tested, and a comparison reveals nothing about the universe.

use super::rng::RngStream;
use crate::law::evaluate::{admitted, holds, observe};
use crate::law::syntax::Time;
use crate::law::{Claim, Formula, Program, Symmetry};
use crate::universe::{State, Symbol, Tabulated, Universe};

/// The number of histories in the sample.
const HISTORIES: usize = 512;
/// The ring sizes of the histories, in turn: small ones, and some on which larger bounds can break.
const SIZES: [usize; 10] = [2, 3, 4, 5, 6, 7, 8, 12, 16, 24];
/// The number of states after the first three of a history: for fixed times, and for the window of `eventually`.
const OTHERS: usize = 3;

/// The histories of the sample that a law forbids: one bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmpiricalContent([u64; HISTORIES / 64]);

impl EmpiricalContent {
    /// Measures the content of a law on a sample of imagined histories that depends on the universe's symbols alone.
    ///
    /// ```
    /// use popper_harness::decide::EmpiricalContent;
    /// use popper_harness::law::{Extensions, Law, Program};
    /// use popper_harness::universe::KineticGrid;
    ///
    /// let content = |claim: &str| {
    ///     let law = format!(
    ///         r#"{{"law_id": "l", "template": "bound", "quantifiers": {{"T": 9}}, "claim": "{claim}", "forbidden": "f",
    ///             "observables": [{{"name": "x", "expr": "count('X')"}}]}}"#
    ///     );
    ///     let law = Law::from_json(&law, Extensions::default())?;
    ///     let program = Program::compile(&law, &KineticGrid)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(EmpiricalContent::new(&program, &KineticGrid))
    /// };
    /// let (bold, timid) = (content("x(t) <= 0")?, content("x(t) <= 2")?);
    /// assert!(bold.share() > timid.share());
    /// assert_eq!(content("x(t) >= 0")?.share(), 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(program: &Program, universe: &Tabulated) -> Self {
        let mut content = Self([0; HISTORIES / 64]);
        for index in 0..HISTORIES {
            if forbids(program, &History::imagine(universe, index), universe) {
                content.0[index / 64] |= 1 << (index % 64);
            }
        }
        content
    }

    /// Returns the share of histories that are forbidden, `0..=1`. A tautology forbids none.
    pub fn share(&self) -> f64 {
        self.count(|index| self.0[index]) / HISTORIES as f64
    }

    /// Returns the likeness of two contents, `0..=1`: the histories that both forbid over those that either forbids.
    ///
    /// It is 1 if neither forbids anything.
    pub fn likeness(&self, other: &Self) -> f64 {
        let either = self.count(|index| self.0[index] | other.0[index]);
        if either == 0.0 {
            return 1.0;
        }
        self.count(|index| self.0[index] & other.0[index]) / either
    }

    /// Returns the share of histories that exactly one of the two forbids, `0..=1`.
    pub fn difference(&self, other: &Self) -> f64 {
        self.count(|index| self.0[index] ^ other.0[index]) / HISTORIES as f64
    }

    fn count(&self, word: impl Fn(usize) -> u64) -> f64 {
        (0..self.0.len())
            .map(|index| f64::from(word(index).count_ones()))
            .sum()
    }
}

/// Whether the law forbids a history. A history on which the law has no value is not forbidden.
fn forbids(program: &Program, history: &History, universe: &Tabulated) -> bool {
    if admitted(&program.preconditions, &history.start, universe) != Ok(true) {
        return false;
    }
    let says = |formula: &Formula, now: &State| {
        let mut read = |index: usize, time: Time| {
            let state = match time {
                Time::Now => now,
                Time::Next => &history.next,
                Time::At(0) => &history.start,
                Time::At(step) => &history.others[(step % OTHERS as u64) as usize],
            };
            observe(&program.observables[index], state, universe)
        };
        holds(formula, 1, &mut read)
    };
    match &program.claim {
        Claim::Always {
            antecedent,
            consequent,
            ..
        } => {
            let met = antecedent.as_ref().map(|p| says(p, &history.now));
            met.is_none_or(|met| met == Ok(true)) && says(consequent, &history.now) == Ok(false)
        }
        Claim::Eventually {
            antecedent,
            consequent,
            window,
        } => {
            let later = history.others.iter().take(*window as usize);
            says(antecedent, &history.now) == Ok(true)
                && std::iter::once(&history.now)
                    .chain(later)
                    .all(|state| says(consequent, state) == Ok(false))
        }
        Claim::Commutes(symmetry) => {
            let single = symmetry.each(history.now.len());
            single
                .iter()
                .any(|single| single.apply(&history.now) != history.image)
        }
        Claim::Local(claim) => {
            let (now, next) = (&history.now, &history.next);
            (0..now.len()).any(|cell| claim.is_about(now, cell) && !claim.allows(next[cell]))
        }
    }
}

/// An imagined history: states that could have followed each other under some rule.
struct History {
    start: State,
    now: State,
    next: State,
    others: [State; OTHERS],
    /// A possible state of the run from a transformed start, at the time of `now`.
    image: State,
}

impl History {
    fn imagine(universe: &Tabulated, index: usize) -> Self {
        let mut draw = RngStream::new(0, "", "content", index);
        let symbols: Vec<Symbol> = (0..universe.alphabet().len() as Symbol).collect();
        let starts = universe.start_symbols();
        let start: State = (0..SIZES[index % SIZES.len()])
            .map(|_| draw.pick(&starts))
            .collect();
        let now = neighbour(&start, &symbols, &mut draw);
        let next = neighbour(&now, &symbols, &mut draw);
        let others = std::array::from_fn(|_| neighbour(&now, &symbols, &mut draw));
        let transforms = universe.transforms();
        let image = match transforms.get(draw.below(transforms.len() + 1)) {
            Some(transform) => Symmetry::Named(transform.clone()).apply(&now),
            None => neighbour(&now, &symbols, &mut draw),
        };
        Self {
            start,
            now,
            next,
            others,
            image,
        }
    }
}

/// Returns a state like another one: the same, moved, with one or two cells changed, or with two cells exchanged.
///
/// Rarely it is an unrelated state. Small changes distinguish laws; a large one breaks all of them together.
fn neighbour(state: &State, symbols: &[Symbol], draw: &mut RngStream) -> State {
    let n = state.len();
    let mut cells = state.to_vec();
    match draw.below(16) {
        0 => {}
        1..=2 => cells.rotate_right(1),
        3..=4 => cells.rotate_left(1),
        5..=10 => cells[draw.below(n)] = draw.pick(symbols),
        11..=12 => {
            cells[draw.below(n)] = draw.pick(symbols);
            cells[draw.below(n)] = draw.pick(symbols);
        }
        13..=14 => cells.swap(draw.below(n), draw.below(n)),
        _ => cells.fill_with(|| draw.pick(symbols)),
    }
    cells.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Extensions, Law};
    use crate::universe::{KineticGrid, random_universe};

    fn content(law: serde_json::Value, universe: &Tabulated) -> EmpiricalContent {
        let mut law = law;
        law["law_id"] = "l".into();
        law["forbidden"] = "f".into();
        law["quantifiers"] = serde_json::json!({"T": 9, "H": 2});
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        EmpiricalContent::new(&Program::compile(&law, universe).unwrap(), universe)
    }

    fn invariant(expr: &str) -> EmpiricalContent {
        let observables = serde_json::json!([{"name": "f", "expr": expr}]);
        let law = serde_json::json!({"template": "invariant", "claim": "f(t) == f(0)", "observables": observables});
        content(law, &KineticGrid)
    }

    #[test]
    fn other_words_forbid_the_same_and_another_law_does_not() {
        let right = invariant("count('>') + count('X')");
        assert_eq!(right, invariant("count('X') + count('>')"));
        let left = invariant("count('<') + count('X')");
        assert!(right.likeness(&left) < 0.9);
        assert!((right.likeness(&right) - 1.0).abs() < f64::EPSILON);
        assert!((0.2..0.8).contains(&right.share()), "{}", right.share());
    }

    #[test]
    fn a_precondition_takes_content_away() {
        let law = |preconditions| {
            let observables = serde_json::json!([{"name": "f", "expr": "count('X')"}]);
            serde_json::json!({
                "template": "bound", "claim": "f(t) == 0",
                "observables": observables, "preconditions": preconditions,
            })
        };
        let bold = content(law(serde_json::json!([])), &KineticGrid);
        let long = serde_json::json!([{"lhs": "grid_length", "op": ">", "rhs": 5}]);
        let timid = content(law(long), &KineticGrid);
        assert!(timid.share() > 0.0 && timid.share() < bold.share());
    }

    #[test]
    fn transforms_are_told_apart() {
        let symmetry = |name: &str| {
            let law = serde_json::json!({"template": "symmetry_commutation", "claim": "", "transform": name});
            content(law, &KineticGrid)
        };
        let contents = ["mirror_swap", "mirror_only", "swap_only", "shift_1"].map(symmetry);
        for (index, one) in contents.iter().enumerate() {
            for other in &contents[..index] {
                assert!(one.likeness(other) < 1.0);
            }
        }
    }

    #[test]
    fn the_sample_depends_on_the_symbols_alone() {
        let observables = serde_json::json!([{"name": "f", "expr": "count('a')"}]);
        let law = serde_json::json!({"template": "invariant", "claim": "f(t) == f(0)", "observables": observables});
        let of = |seed| content(law.clone(), &random_universe(seed));
        assert_eq!(of(1), of(2));
    }
}
