//! What a law does, for finding laws that differ in text only.

use sha2::{Digest, Sha256};

use crate::decide::{Rings, Watch, start_symbols};
use crate::eval::{Horizon, Run, admitted, fraction, holds, observe, step_of};
use crate::law::{Claim, Formula, Program};
use crate::universe::{State, Symbol, Universe, windows};

/// Rings up to this size are run.
const LARGEST: usize = 6;
/// Steps that are watched where no period is known.
const STEPS: u64 = 24;

impl Program {
    /// sha256 over the template, T, H, and what the law reads at every t of every admissible start of every ring up to 6 cells:
    /// both sides of its comparison, or P and Q of an implication, 64 hex digits.
    ///
    /// Truth alone would not do: all true laws agree there. Two laws with one hash say the same of small rings, in other words.
    /// Of a law that does not see rotations, one start of each class is enough.
    pub fn behaviour_hash(&self, universe: &dyn Universe) -> String {
        let mut hash = Sha256::new();
        let window = if let Claim::Eventually { window, .. } = self.claim {
            window
        } else {
            0
        };
        hash.update(format!(
            "{} {} {window}\n",
            self.template.name(),
            self.horizon
        ));
        let rings = Rings::new(self, universe, STEPS);
        let starts = start_symbols(universe);
        let turned = self.is_rotation_invariant();
        for n in 1..=LARGEST {
            let (Watch::Exact(horizon) | Watch::Beginning(horizon)) = rings.watch(n) else {
                continue;
            };
            for word in windows(starts.len(), n) {
                if turned && !is_least_rotation(&word) {
                    continue;
                }
                let start: State = word
                    .iter()
                    .map(|&index| starts[usize::from(index)])
                    .collect();
                let met = admitted(&self.preconditions, &start, universe);
                hash.update(format!("{met:?}"));
                if met == Ok(true) {
                    hash.update(self.readings(universe, &start, horizon));
                }
                hash.update("\n");
            }
        }
        crate::hash::hex(hash)
    }

    /// What the law reads on one run, as text.
    fn readings(&self, universe: &dyn Universe, start: &State, horizon: Horizon) -> String {
        let (antecedent, consequent) = match &self.claim {
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
            Claim::Commutes(_) | Claim::Local { .. } => {
                return format!("{:?}", (&self.claim, self.case(universe, start, horizon)));
            }
        };
        let mut run = Run::new(universe, start);
        let mut parts = Vec::new();
        for t in 0..=horizon.t.saturating_add(horizon.window) {
            let mut read = |index: usize, time| {
                observe(
                    &self.observables[index],
                    run.state(step_of(time, t)),
                    universe,
                )
            };
            parts.push(match (antecedent, consequent) {
                (None, Formula::Cmp(op, left, right)) => {
                    format!(
                        "{op:?} {:?} {:?};",
                        fraction(left, t, &mut read),
                        fraction(right, t, &mut read)
                    )
                }
                (None, whole) => format!("{:?};", holds(whole, t, &mut read)),
                (Some(p), q) => {
                    format!("{:?} {:?};", holds(p, t, &mut read), holds(q, t, &mut read))
                }
            });
        }
        parts.concat()
    }
}

/// Whether no rotation of a word comes before it.
fn is_least_rotation(word: &[Symbol]) -> bool {
    (1..word.len()).all(|k| word.iter().le(word[k..].iter().chain(&word[..k])))
}

#[cfg(test)]
mod tests {
    use crate::law::{Extensions, Law, Program};
    use crate::universe::KineticGrid;

    fn hash(template: &str, expr: &str, claim: &str) -> String {
        let law = serde_json::json!({
            "law_id": "l", "template": template, "quantifiers": {"T": 9}, "forbidden": "f",
            "observables": [{"name": "f", "expr": expr}], "claim": claim,
        });
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        Program::compile(&law, &KineticGrid)
            .unwrap()
            .behaviour_hash(&KineticGrid)
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
