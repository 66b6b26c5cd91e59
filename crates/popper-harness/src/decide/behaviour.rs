//! The behaviour of a law on small rings, to find laws that differ in text only.

use sha2::{Digest, Sha256};

use num_rational::Ratio;

use super::budget::{Budget, Stop};
use crate::law::evaluate::{
    Case, EvalError, Horizon, Trajectory, admitted, fraction, holds, observe, step_of,
};
use crate::law::rings::{Rings, SimulationDepth};
use crate::law::{Claim, Formula, Program, Symmetry};
use crate::universe::{Shift, State, Symbol, Tabulated, windows};

/// The version of the hashed bytes, which is hashed first.
const VERSION: u8 = 2;
/// The size of the largest rings that are run.
const LARGEST: usize = 6;
/// The number of simulated steps where no period is known.
const STEPS: u64 = 24;
/// The most readings, one for each start and step; rings beyond it are left out.
const MOST_READINGS: u64 = 1_000_000;
/// The number of starts between two calls of `stop`.
const STARTS_AT_ONCE: usize = 1024;

/// Returns the sha256 of a law's behaviour on small rings, 64 hex digits.
///
/// It covers the template, T, H, and the values at every t of every admissible start of every ring up to 6 cells, or fewer
/// where that is more than a million readings. The values are both sides of the comparison, or P and Q of an implication;
/// truth alone would not suffice, since all true laws agree there. Two laws with one hash say the same of small rings in
/// other words. A law that is invariant under rotations is run from one start of each class.
pub fn behaviour_hash(program: &Program, universe: &Tabulated) -> String {
    hash_within(program, universe, &Budget::new(&|| false))
}

/// Returns the same hash, or `None` if `stop` returns `true` before the end.
pub fn behaviour_hash_with_stop(
    program: &Program,
    universe: &Tabulated,
    stop: Stop<'_>,
) -> Option<String> {
    let budget = Budget::new(stop);
    let hash = hash_within(program, universe, &budget);
    (!budget.was_cut()).then_some(hash)
}

fn hash_within(program: &Program, universe: &Tabulated, budget: &Budget<'_>) -> String {
    let window = if let Claim::Eventually { window, .. } = program.claim {
        window
    } else {
        0
    };
    let mut bytes = Tagged(Sha256::new());
    bytes.number(b'v', VERSION.into());
    bytes.put(b'p', program.template.name().as_bytes());
    bytes.number(b'T', program.horizon.into());
    bytes.number(b'H', window.into());
    let rings = Rings::new(program, universe, STEPS);
    let starts = universe.start_symbols();
    let turned = program.is_rotation_invariant();
    let mut left = MOST_READINGS;
    for n in 1..=LARGEST {
        let (SimulationDepth::Exact(horizon) | SimulationDepth::Beginning(horizon)) =
            rings.depth(n)
        else {
            continue;
        };
        let classes = (starts.len() as u64).pow(n as u32) / if turned { n as u64 } else { 1 };
        let steps = horizon.t.saturating_add(horizon.window).saturating_add(1);
        let Some(rest) = left.checked_sub(classes.saturating_mul(steps)) else {
            break;
        };
        left = rest;
        bytes.number(b'n', n as i128);
        for (index, word) in windows(starts.len(), n).enumerate() {
            if index % STARTS_AT_ONCE == 0 && budget.is_spent() {
                return String::new();
            }
            if turned && !is_least_rotation(&word) {
                continue;
            }
            let start: State = word
                .iter()
                .map(|&index| starts[usize::from(index)])
                .collect();
            let met = admitted(&program.preconditions, &start, universe);
            bytes.truth(met);
            if met == Ok(true) {
                readings(program, universe, &start, horizon, &mut bytes);
            }
        }
    }
    crate::json::hash::hex(bytes.0)
}

/// Hashes the values that the law reads on one run.
fn readings(
    program: &Program,
    universe: &Tabulated,
    start: &State,
    horizon: Horizon,
    bytes: &mut Tagged,
) {
    let (antecedent, consequent) = match &program.claim {
        Claim::Always {
            antecedent,
            consequent,
            ..
        } => (antecedent.as_ref(), consequent),
        Claim::Eventually {
            antecedent,
            consequent,
            ..
        } => (Some(antecedent), consequent),
        Claim::Commutes(symmetry) => {
            bytes.symmetry(symmetry);
            return bytes.case(&Case::new(program, universe, start, horizon));
        }
        Claim::Local(claim) => {
            let pattern = claim.pattern.as_ref();
            let equal = u8::from(claim.equal);
            bytes.put(b'l', &[claim.trigger, claim.result, equal]);
            bytes.put(b'a', pattern.map_or(&[], <[Symbol; 3]>::as_slice));
            bytes.put(b'm', claim.parity.as_slice());
            return bytes.case(&Case::new(program, universe, start, horizon));
        }
    };
    let mut run = Trajectory::new(universe, start).keeping(&program.fixed_steps());
    for t in 0..=horizon.t.saturating_add(horizon.window) {
        let mut read = |index: usize, time| {
            observe(
                &program.observables[index],
                run.state(step_of(time, t)),
                universe,
            )
        };
        match (antecedent, consequent) {
            (None, Formula::Cmp(op, left, right)) => {
                bytes.put(b'o', op.text().as_bytes());
                bytes.fraction(fraction(left, t, &mut read));
                bytes.fraction(fraction(right, t, &mut read));
            }
            (None, whole) => bytes.truth(holds(whole, t, &mut read)),
            (Some(p), q) => {
                bytes.truth(holds(p, t, &mut read));
                bytes.truth(holds(q, t, &mut read));
            }
        }
    }
}

/// A hash of pieces, each with a tag and its length.
struct Tagged(Sha256);

impl Tagged {
    fn put(&mut self, tag: u8, piece: &[u8]) {
        self.0.update([tag]);
        self.0.update((piece.len() as u64).to_le_bytes());
        self.0.update(piece);
    }

    fn number(&mut self, tag: u8, number: i128) {
        self.put(tag, &number.to_le_bytes());
    }

    fn error(&mut self, error: EvalError) {
        let code = match error {
            EvalError::Overflow => 0,
            EvalError::ZeroDivisor => 1,
            EvalError::FractionModulo => 2,
        };
        self.put(b'e', &[code]);
    }

    fn truth(&mut self, truth: Result<bool, EvalError>) {
        match truth {
            Ok(truth) => self.put(b'b', &[u8::from(truth)]),
            Err(error) => self.error(error),
        }
    }

    fn fraction(&mut self, value: Result<Ratio<i64>, EvalError>) {
        match value {
            Ok(value) => {
                self.number(b'x', (*value.numer()).into());
                self.number(b'y', (*value.denom()).into());
            }
            Err(error) => self.error(error),
        }
    }

    fn symmetry(&mut self, symmetry: &Symmetry) {
        match symmetry {
            Symmetry::Named(transform) => {
                self.put(b'r', &[u8::from(transform.reverse)]);
                self.put(b'm', &transform.map);
            }
            Symmetry::Shift(Shift::By(cells)) => self.number(b's', (*cells).into()),
            Symmetry::Shift(Shift::Every) => self.put(b's', &[]),
        }
    }

    fn case(&mut self, case: &Case) {
        self.number(b'c', case.violation.map_or(-1, i128::from));
        self.number(b'g', case.triggers.into());
        if let Some((t, error)) = case.error {
            self.number(b't', t.into());
            self.error(error);
        }
    }
}

/// Whether a word is the first of its rotations in symbol order.
fn is_least_rotation(word: &[Symbol]) -> bool {
    (1..word.len()).all(|k| word.iter().le(word[k..].iter().chain(&word[..k])))
}

#[cfg(test)]
mod tests {
    use super::{behaviour_hash, behaviour_hash_with_stop};
    use crate::law::{Extensions, Law, Program};
    use crate::universe::{KineticGrid, Tabulated};

    fn program(template: &str, expr: &str, claim: &str, universe: &Tabulated) -> Program {
        let law = serde_json::json!({
            "law_id": "l", "template": template, "quantifiers": {"T": 9}, "forbidden": "f",
            "observables": [{"name": "f", "expr": expr}], "claim": claim,
        });
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        Program::compile(&law, universe).unwrap()
    }

    fn hash(template: &str, expr: &str, claim: &str) -> String {
        behaviour_hash(&program(template, expr, claim, &KineticGrid), &KineticGrid)
    }

    #[test]
    fn eight_symbols_are_read_within_the_budget_and_can_be_stopped() {
        use std::sync::atomic::{AtomicU64, Ordering};

        let table = r#"{"id": "eight", "symbols": "01234567", "radius": 0,
            "rule": {"patterns": [["0", "1"], ["1", "2"], ["2", "0"]], "default": "7"}, "initial_forbidden": [], "transforms": []}"#;
        let universe = crate::universe::Tabulated::from_json(table).unwrap();
        let law = program("invariant", "leftmost('3')", "f(t) == f(0)", &universe);
        let asked = AtomicU64::new(0);
        let whole = behaviour_hash_with_stop(&law, &universe, &|| {
            asked.fetch_add(1, Ordering::Relaxed);
            false
        });
        assert_eq!(whole, Some(behaviour_hash(&law, &universe)));
        // A million readings are 10 steps of 100,000 starts, and 1,024 starts take one question.
        let questions = asked.into_inner();
        assert!((2..=100).contains(&questions), "{questions}");
        assert_eq!(behaviour_hash_with_stop(&law, &universe, &|| true), None);
        let other = program("invariant", "rightmost('3')", "f(t) == f(0)", &universe);
        assert_ne!(whole, Some(behaviour_hash(&other, &universe)));
    }

    #[test]
    fn other_words_same_behaviour() {
        let sum = hash("invariant", "count('>') + count('>')", "f(t) == f(0)");
        assert_eq!(sum, hash("invariant", "2*count('>')", "f(0) == f(t)"));
        // True laws agree in truth; what they read tells them apart.
        let right = hash("invariant", "count('>') + count('X')", "f(t) == f(0)");
        assert_ne!(
            right,
            hash("invariant", "count('<') + count('X')", "f(t) == f(0)")
        );
        assert_ne!(
            hash("implication_state", "count('X')", "f(t) > 0 -> f(t) < 4"),
            hash("implication_state", "count('X')", "f(t) > 1 -> f(t) < 4")
        );
    }
}
