//! Universes: one-dimensional ring automata whose laws can be decided.

mod definition;
mod error;
mod file;
mod kinetic;
mod random;
mod rule;
mod state;
mod tabulated;
mod transform;

#[cfg(test)]
pub(crate) use definition::SEMANTICS;
pub use definition::{Definition, TableRule, TransformDefinition};
pub use error::UniverseError;
pub use kinetic::KineticGrid;
pub use random::random_universe;
pub(crate) use rule::windows;
pub use rule::{MAX_RADIUS, Rule};
pub use state::{Alphabet, MAX_SYMBOLS, State, StateError, Symbol};
pub use tabulated::Tabulated;
pub use transform::{Shift, Transform};

/// A deterministic ring automaton.
///
/// The harness needs only these seven methods of a universe, so any implementation gets proofs, exhaustive search and
/// counterexamples. [`Harness::new`](crate::decide::Harness::new) keeps their results as a [`Tabulated`], which has the
/// dynamics, and does not call them again. `docs/universe-format.md` has the file format, with an
/// example for each form and each error.
///
/// ```
/// use popper_harness::decide::{Config, Harness, Strength};
/// use popper_harness::law::{Extensions, Law};
/// use popper_harness::universe::{Alphabet, Symbol, Universe};
///
/// /// Cars on a ring: a car moves one cell right where that cell is empty.
/// struct Traffic(Alphabet);
///
/// impl Universe for Traffic {
///     fn id(&self) -> &str {
///         "traffic"
///     }
///
///     fn alphabet(&self) -> &Alphabet {
///         &self.0
///     }
///
///     fn radius(&self) -> usize {
///         1
///     }
///
///     fn next_cell(&self, window: &[Symbol]) -> Symbol {
///         match window {
///             [_, 1, 1] | [1, 0, _] => 1,
///             _ => 0,
///         }
///     }
///
///     fn may_start(&self, _: Symbol) -> bool {
///         true
///     }
/// }
///
/// let traffic = Traffic(Alphabet::new(['.', 'o'])?);
/// let harness = Harness::new(traffic, Config::default())?;
/// let cars_stay = r#"{"law_id": "cars_stay", "template": "invariant", "quantifiers": {"T": 20},
///     "observables": [{"name": "cars", "expr": "count('o')"}], "forbidden": "a car that is lost"}"#;
/// let verdict = harness.evaluate(&Law::from_json(cars_stay, Extensions::default())?);
/// assert_eq!(verdict.evidence.strength, Some(Strength::Proved));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Universe {
    /// Returns a short name that is unique in a study: 1 to 64 of `A-Z a-z 0-9 _ - .`
    fn id(&self) -> &str;

    /// Returns the symbols, in the order in which states are compared. The first one is the background.
    fn alphabet(&self) -> &Alphabet;

    /// Returns the number of neighbours on either side that the next cell depends on, `0..=2`.
    fn radius(&self) -> usize;

    /// Returns the next symbol of the cell in the middle of a window of `2 * radius + 1` cells.
    ///
    /// The result must depend on the window alone.
    fn next_cell(&self, window: &[Symbol]) -> Symbol;

    /// Whether a state at t = 0 may hold this symbol.
    fn may_start(&self, symbol: Symbol) -> bool;

    /// Returns the named transforms; the shifts exist in every universe and are not listed.
    fn transforms(&self) -> &[Transform] {
        &[]
    }

    /// Returns the symbol that the observable `incoming_collisions` counts one step ahead, if the universe has one.
    fn incoming(&self) -> Option<Symbol> {
        None
    }
}
