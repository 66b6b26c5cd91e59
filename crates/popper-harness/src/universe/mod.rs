//! Universes: one-dimensional ring automata whose laws can be decided.

mod definition;
mod kinetic;
mod random;
mod state;
mod table;
mod transform;

pub(crate) use definition::windows;
pub use definition::{Definition, Rule, UniverseError};
pub use kinetic::KineticGrid;
pub use random::random_universe;
pub use state::{Alphabet, State, StateError, Symbol};
pub use table::TableUniverse;
pub use transform::{Shift, Transform};

/// The largest number of symbols a universe may have.
pub const MAX_SYMBOLS: usize = 8;
/// The largest radius a universe may have: a cell sees at most two neighbours on either side.
pub const MAX_RADIUS: usize = 2;

/// A deterministic ring automaton.
///
/// The harness asks nothing else of a universe than what stands here, so any implementation gets proofs,
/// exhaustive search and counterexamples. [`next_cell`](Universe::next_cell) must be a pure function of the window: it is tabulated once.
pub trait Universe: Send + Sync {
    /// A short name, unique among the universes of one study.
    fn id(&self) -> &str;

    /// The symbols, in the order in which states are compared. The first one is the background.
    fn alphabet(&self) -> &Alphabet;

    /// How many neighbours on either side the next cell depends on, `0..=2`.
    fn radius(&self) -> usize;

    /// The next symbol of the cell in the middle of a window of `2 * radius + 1` cells.
    fn next_cell(&self, window: &[Symbol]) -> Symbol;

    /// Whether a state at t = 0 may hold this symbol.
    fn may_start(&self, symbol: Symbol) -> bool;

    /// The named transforms; the shifts exist in every universe and are not listed.
    fn transforms(&self) -> &[Transform];

    /// A number of steps after which every ring of `n` cells is back at its start, if one is known.
    fn period_bound(&self, _n: usize) -> Option<u64> {
        None
    }

    /// The symbol that `incoming_collisions` counts one step ahead, where the universe has such a thing.
    fn collision_symbol(&self) -> Option<Symbol> {
        None
    }

    /// The state one step on.
    fn step(&self, state: &[Symbol]) -> State {
        let (n, radius) = (state.len(), self.radius());
        let mut window = [0; 2 * MAX_RADIUS + 1];
        (0..n)
            .map(|cell| {
                for (offset, seen) in window[..=2 * radius].iter_mut().enumerate() {
                    // `n * MAX_RADIUS` keeps the difference positive on rings shorter than the window.
                    *seen = state[(cell + offset + n * MAX_RADIUS - radius) % n];
                }
                self.next_cell(&window[..=2 * radius])
            })
            .collect()
    }

    /// The state `steps` steps on.
    fn evolve(&self, state: &[Symbol], steps: u64) -> State {
        let steps = self
            .period_bound(state.len())
            .map_or(steps, |period| steps % period);
        (0..steps).fold(state.iter().copied().collect(), |now, _| self.step(&now))
    }

    /// The whole universe as data, enough to rebuild it anywhere.
    fn definition(&self) -> Definition {
        Definition::of(self)
    }

    /// The `sim_hash`: sha256 over the canonical definition and the version of the semantics.
    fn definition_hash(&self) -> String {
        self.definition().hash()
    }
}
