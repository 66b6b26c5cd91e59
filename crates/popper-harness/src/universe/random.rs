//! Random universes by seed.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::rule::Rule;
use super::state::{Alphabet, Symbol};
use super::tabulated::Tabulated;

/// The symbols of a random universe.
const SYMBOLS: [char; 4] = ['.', 'a', 'b', 'c'];

/// Returns a random radius-1 universe of four symbols; the same seed gives the same rule on any machine.
///
/// Half of all seeds give a rule that conserves an additive quantity by construction; the others give uniform random
/// tables. The kind is random, too, so a proposer cannot know whether a conserved quantity exists.
pub fn random_universe(seed: u64) -> Tabulated {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut draw = |bound: usize| (rng.next_u64() % bound as u64) as usize;
    let radius = 1;
    let next: Vec<Symbol> = if draw(2) == 0 {
        streaming(&mut draw)
    } else {
        (0..SYMBOLS.len().pow(3))
            .map(|_| draw(SYMBOLS.len()) as Symbol)
            .collect()
    };
    let rule = Rule::from_table(SYMBOLS.len(), radius, next);
    Tabulated::new(format!("random_{seed}"), Alphabet::known(SYMBOLS), rule)
}

/// Returns a partitioned rule, which conserves the number of bits if its permutation does.
///
/// Each symbol is two bits, each bit streams in its own direction, and a random permutation of the symbols acts on the bits
/// that meet in a cell.
fn streaming(draw: &mut impl FnMut(usize) -> usize) -> Vec<Symbol> {
    let from = [draw(3), draw(3)];
    let mut collide: [Symbol; 4] = [0, 1, 2, 3];
    // Only the middle two change places: the number of set bits stays.
    if draw(2) == 0 {
        collide.swap(1, 2);
    }
    super::rule::windows(SYMBOLS.len(), 3)
        .map(|window| collide[usize::from((window[from[0]] & 1) | (window[from[1]] & 2))])
        .collect()
}
