//! The built-in ground truth: particles that stream freely round a ring.

use std::sync::LazyLock;

use super::{Alphabet, State, Symbol, Transform, Universe};

/// The kinetic grid: `>` moves one cell right a step, `<` one cell left, a cell that receives both is `X`.
///
/// A state is two bit masks, the cells that hold a right-mover (`>` or `X`) and those that hold a left-mover
/// (`<` or `X`). Each step rotates the one by +1 and the other by -1, so the state returns after at most N steps and
/// any state of the future costs no more than the next one.
///
/// ```
/// use popper_harness::universe::{KineticGrid, Universe};
///
/// let start = KineticGrid.alphabet().parse(">.<.")?;
/// assert_eq!(KineticGrid.alphabet().text(&KineticGrid.step(&start)), ".X..");
/// # Ok::<(), popper_harness::universe::StateError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct KineticGrid;

impl KineticGrid {
    /// The identifier of this universe.
    pub const ID: &str = "kinetic_grid_v1";
}

/// Symbols are numbered so that bit 0 says "holds a right-mover" and bit 1 "holds a left-mover".
const RIGHT: Symbol = 1;
const LEFT: Symbol = 2;
const COLLISION: Symbol = RIGHT | LEFT;

static ALPHABET: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::new(vec!['.', '>', '<', 'X']));

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

    fn period_bound(&self, n: usize) -> Option<u64> {
        Some(n as u64)
    }

    fn collision_symbol(&self) -> Option<Symbol> {
        Some(COLLISION)
    }

    fn evolve(&self, state: &[Symbol], steps: u64) -> State {
        let n = state.len();
        let shift = (steps % n as u64) as usize;
        (0..n)
            .map(|cell| {
                (state[(cell + n - shift) % n] & RIGHT) | (state[(cell + shift) % n] & LEFT)
            })
            .collect()
    }
}
