//! The built-in universe: particles that stream freely around a ring.

use std::ops::Deref;
use std::sync::LazyLock;

use super::Universe;
use super::rule::Rule;
use super::state::{Alphabet, State, Symbol};
use super::tabulated::Tabulated;
use super::transform::Transform;

/// The kinetic grid: `>` moves one cell right a step, `<` one cell left, a cell that receives both is `X`.
///
/// A state is two bit masks, the cells that hold a right-mover (`>` or `X`) and those that hold a left-mover
/// (`<` or `X`). Each step rotates the one by +1 and the other by -1, so the state returns after at most N steps and
/// any state of the future costs no more than the next one.
///
/// A reference to this type can be used as a [`Tabulated`], whose table is computed once.
///
/// ```
/// use popper_harness::universe::{KineticGrid, Universe};
///
/// let start = KineticGrid.alphabet().parse(">.<.")?;
/// assert_eq!(KineticGrid.alphabet().text(&KineticGrid.step(&start)), ".X..");
/// # Ok::<(), popper_harness::universe::StateError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a universe without settings")]
pub struct KineticGrid;

impl KineticGrid {
    /// The identifier of this universe.
    pub const ID: &str = "kinetic_grid_v1";
    /// The hash of this universe before its definition named the symbol of `incoming_collisions`.
    ///
    /// Evidence from that time still holds.
    pub const FORMER_HASH: &str =
        "d9445fdab2011948944c66c6b35b2237b1d7f1a9a0da31c57fa4d47b3307d2f2";
}

/// The symbol of a right-mover: bit 0 of a symbol means "has a right-mover", bit 1 "has a left-mover".
const RIGHT: Symbol = 1;
const LEFT: Symbol = 2;
const COLLISION: Symbol = RIGHT | LEFT;

static ALPHABET: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::known(['.', '>', '<', 'X']));

static TRANSFORMS: LazyLock<[Transform; 3]> = LazyLock::new(|| {
    let transform = |name: &str, reverse, map: [Symbol; 4]| Transform {
        name: name.into(),
        reverse,
        map: map.into(),
    };
    [
        transform("mirror_swap", true, [0, LEFT, RIGHT, COLLISION]),
        transform("mirror_only", true, [0, RIGHT, LEFT, COLLISION]),
        transform("swap_only", false, [0, LEFT, RIGHT, COLLISION]),
    ]
});

static TABLE: LazyLock<Tabulated> = LazyLock::new(|| Tabulated::known(&KineticGrid));

impl Deref for KineticGrid {
    type Target = Tabulated;

    fn deref(&self) -> &Tabulated {
        &TABLE
    }
}

impl Universe for KineticGrid {
    fn id(&self) -> &str {
        Self::ID
    }

    fn alphabet(&self) -> &Alphabet {
        &ALPHABET
    }

    fn radius(&self) -> usize {
        1
    }

    fn next_cell(&self, window: &[Symbol]) -> Symbol {
        (window[0] & RIGHT) | (window[2] & LEFT)
    }

    fn may_start(&self, symbol: Symbol) -> bool {
        symbol != COLLISION
    }

    fn transforms(&self) -> &[Transform] {
        &*TRANSFORMS
    }

    fn incoming(&self) -> Option<Symbol> {
        Some(COLLISION)
    }
}

/// A renaming of symbols under which the rule of a universe equals that of the kinetic grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Streaming {
    /// The symbol of the grid for each symbol of the universe.
    code: [Symbol; 4],
    /// The symbol of the universe for each symbol of the grid.
    symbol: [Symbol; 4],
}

impl Streaming {
    /// Finds a renaming under which a rule equals that of the grid.
    pub(super) fn of(rule: &Rule) -> Option<Self> {
        if (rule.symbols(), rule.radius()) != (4, 1) {
            return None;
        }
        super::rule::windows(4, 4).find_map(|names| {
            let code: [Symbol; 4] = names.to_vec().try_into().ok()?;
            let mut symbol = [Symbol::MAX; 4];
            for (from, to) in (0..).zip(code) {
                symbol[usize::from(to)] = from;
            }
            let renamed = |window: State| window.iter().map(|&s| code[usize::from(s)]).collect();
            let fits = !symbol.contains(&Symbol::MAX)
                && rule.windows().all(|(window, next)| {
                    let window: State = renamed(window);
                    code[usize::from(next)] == KineticGrid.next_cell(&window)
                });
            fits.then_some(Self { code, symbol })
        })
    }

    /// Returns the state `steps` steps later.
    pub(super) fn evolve(&self, state: &[Symbol], steps: u64) -> State {
        let n = state.len();
        let shift = (steps % (n as u64).max(1)) as usize;
        let code = |cell: usize| self.code[usize::from(state[cell % n])];
        (0..n)
            .map(|cell| (code(cell + n - shift) & RIGHT) | (code(cell + shift) & LEFT))
            .map(|code| self.symbol[usize::from(code)])
            .collect()
    }
}
