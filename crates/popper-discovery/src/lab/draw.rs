//! The drawing of rules, transforms, held-out starts and observables.

use popper_harness::universe::{Alphabet, Tabulated, Transform, UniverseError};
use serde_json::{Map, Value, json};

use super::contract::LabTransform;
use super::limits::{START_CELLS, STARTS};
use super::random::LabRandom;
use super::tier::LabTier;

/// A rule as the next symbols of all windows, in the order of the symbols.
struct DrawnTable {
    symbols: usize,
    width: usize,
    next: Vec<u8>,
}

impl DrawnTable {
    fn new(tier: LabTier, mut next: impl FnMut(&[u8]) -> u8) -> Self {
        let (symbols, width) = (tier.symbols().chars().count(), 2 * tier.radius() + 1);
        let next = windows(symbols, width)
            .map(|window| next(&window))
            .collect();
        Self {
            symbols,
            width,
            next,
        }
    }

    /// Whether the next symbol depends on one cell of the window at most: the rule is constant, the identity or a shift, perhaps
    /// with other symbols.
    fn is_degenerate(&self) -> bool {
        (0..self.width).any(|offset| {
            let mut images = vec![None; self.symbols];
            windows(self.symbols, self.width)
                .zip(&self.next)
                .all(|(window, next)| {
                    *images[usize::from(window[offset])].get_or_insert(*next) == *next
                })
        })
    }
}

/// Returns every window, in the order of the symbols.
pub(super) fn windows(symbols: usize, width: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..symbols.pow(width as u32)).map(move |code| {
        let digit = |place: usize| (code / symbols.pow(place as u32) % symbols) as u8;
        (0..width).rev().map(digit).collect()
    })
}

/// Returns the number of a window in the order of [`windows`].
pub(super) fn code(window: &[u8], symbols: usize) -> usize {
    let add = |code: usize, symbol: &u8| code * symbols + usize::from(*symbol);
    window.iter().fold(0, add)
}

/// Returns the window around a cell of a ring.
pub(super) fn around(ring: &[u8], cell: usize, radius: usize) -> Vec<u8> {
    let n = ring.len();
    // A multiple of the length keeps the difference positive on rings that are shorter than the window.
    let first = cell + n * radius - radius;
    (0..=2 * radius)
        .map(|offset| ring[(first + offset) % n])
        .collect()
}

/// Draws a universe. Degenerate rules are drawn again.
///
/// One third of the rules are uniform tables. One third conserve something by construction, and one third commute with a
/// transform: few uniform tables do either, and a recall needs something to find.
pub(super) fn universe(tier: LabTier, salt: &[u8]) -> Result<Tabulated, UniverseError> {
    let mut random = LabRandom::new(salt, "rule", 0);
    let table = loop {
        let table = match random.below(3) {
            0 => uniform(tier, &mut random),
            1 => conserving(tier, &mut random),
            _ => symmetric(tier, &mut random)?,
        };
        if !table.is_degenerate() {
            break table;
        }
    };
    tabulated(tier, &table)
}

fn uniform(tier: LabTier, random: &mut LabRandom) -> DrawnTable {
    let symbols = tier.symbols().chars().count();
    DrawnTable::new(tier, |_| random.below(symbols) as u8)
}

/// Draws a rule that conserves a sum.
fn conserving(tier: LabTier, random: &mut LabRandom) -> DrawnTable {
    if tier.radius() == 1 {
        return streaming(tier, random);
    }
    // Two different neighbours change places where the cells around them allow it. A cell cannot be in two such pairs at once.
    let first = random.below(3) as u8;
    let second = (first + 1 + random.below(2) as u8) % 3;
    let allowed: Vec<bool> = (0..9).map(|_| random.below(2) == 0).collect();
    let moves = |cells: &[u8]| {
        cells[1..3] == [first, second] && allowed[usize::from(cells[0] * 3 + cells[3])]
    };
    DrawnTable::new(tier, |window| {
        if moves(&window[1..]) {
            second
        } else if moves(&window[..4]) {
            first
        } else {
            window[2]
        }
    })
}

/// Draws a rule in which each symbol is two bits, each bit moves in a fixed direction, and the bits that meet may change places.
fn streaming(tier: LabTier, random: &mut LabRandom) -> DrawnTable {
    let from = [random.below(3), random.below(3)];
    let swaps = random.below(2) == 0;
    DrawnTable::new(tier, |window| {
        match (window[from[0]] & 1) | (window[from[1]] & 2) {
            bits @ (1 | 2) if swaps => 3 - bits,
            bits => bits,
        }
    })
}

/// Draws a rule that commutes with a transform which is its own inverse.
fn symmetric(tier: LabTier, random: &mut LabRandom) -> Result<DrawnTable, UniverseError> {
    let alphabet = Alphabet::new(tier.symbols().chars())?;
    let all = named_transforms(tier)?;
    let involutions: Vec<&Transform> = all
        .iter()
        .filter(|transform| {
            (0..alphabet.len() as u8)
                .all(|symbol| image(transform, image(transform, symbol)) == symbol)
        })
        .collect();
    let transform = involutions[random.below(involutions.len())];
    let fixed: Vec<u8> = (0..alphabet.len() as u8)
        .filter(|&symbol| image(transform, symbol) == symbol)
        .collect();
    let mut drawn = vec![None; alphabet.len().pow(2 * tier.radius() as u32 + 1)];
    Ok(DrawnTable::new(tier, |window| {
        let (here, there) = (
            code(window, alphabet.len()),
            code(&transform.apply(window), alphabet.len()),
        );
        let next = match drawn[here] {
            Some(next) => next,
            // The middle cell of a window that is its own image is a fixed symbol, so there is one.
            None if here == there => fixed[random.below(fixed.len())],
            None => random.below(alphabet.len()) as u8,
        };
        drawn[there] = Some(image(transform, next));
        next
    }))
}

/// Returns the image of a symbol.
pub(super) fn image(transform: &Transform, symbol: u8) -> u8 {
    transform.apply(&[symbol])[0]
}

/// Returns the transforms that the laws of a tier may name: every exchange of symbols, with and without a mirror.
pub(super) fn transforms(tier: LabTier) -> Vec<LabTransform> {
    let symbols: Vec<char> = tier.symbols().chars().collect();
    let mut found = Vec::new();
    for reverse in [false, true] {
        for order in orders(symbols.len()) {
            let pairs = symbols.iter().zip(&order);
            let map = pairs
                .map(|(from, to)| (*from, symbols[*to]))
                .filter(|(from, to)| from != to);
            let digits: String = order.iter().map(ToString::to_string).collect();
            let is_sorted = order.is_sorted();
            let name = match (reverse, is_sorted) {
                (false, true) => continue,
                (false, false) => format!("map_{digits}"),
                (true, true) => "mirror".to_owned(),
                (true, false) => format!("mirror_{digits}"),
            };
            found.push(LabTransform {
                name,
                reverse,
                map: map.collect(),
            });
        }
    }
    found
}

/// Returns the same transforms in the form of the harness.
fn named_transforms(tier: LabTier) -> Result<Vec<Transform>, UniverseError> {
    let alphabet = Alphabet::new(tier.symbols().chars())?;
    let named = transforms(tier).into_iter();
    named
        .map(|one| Transform::new(&one.name, one.reverse, one.map, &alphabet))
        .collect()
}

/// Returns every order of the first `count` numbers.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for _ in 0..count {
        found = found
            .iter()
            .flat_map(|order: &Vec<usize>| {
                let free = (0..count).filter(|next| !order.contains(next));
                free.map(|next| order.iter().copied().chain([next]).collect())
            })
            .collect();
    }
    found
}

fn tabulated(tier: LabTier, table: &DrawnTable) -> Result<Tabulated, UniverseError> {
    let symbols: Vec<char> = tier.symbols().chars().collect();
    let char = |symbol: u8| symbols[usize::from(symbol)];
    let entries: Map<String, Value> = windows(table.symbols, table.width)
        .zip(&table.next)
        .map(|(window, next)| {
            let window: String = window.into_iter().map(char).collect();
            (window, json!(char(*next)))
        })
        .collect();
    Tabulated::from_value(&json!({
        "id": universe_id(tier), "symbols": tier.symbols(), "radius": tier.radius(),
        "rule": {"table": entries}, "transforms": transforms(tier),
    }))
}

/// Returns the id of the universes of a tier, which says nothing about the rule.
pub(super) fn universe_id(tier: LabTier) -> String {
    format!("lab_{}", tier.name().to_lowercase())
}

/// Draws the held-out starts. They are drawn again until every window occurs in them, so that a table with one wrong window cannot be
/// right everywhere.
pub(super) fn starts(tier: LabTier, salt: &[u8]) -> Vec<Vec<u8>> {
    let (symbols, radius) = (tier.symbols().chars().count(), tier.radius());
    let mut random = LabRandom::new(salt, "starts", 0);
    loop {
        let starts: Vec<Vec<u8>> = (0..STARTS)
            .map(|_| random.ring(START_CELLS, symbols))
            .collect();
        let mut seen = vec![false; symbols.pow(2 * radius as u32 + 1)];
        for start in &starts {
            for cell in 0..start.len() {
                seen[code(&around(start, cell, radius), symbols)] = true;
            }
        }
        if seen.iter().all(|seen| *seen) {
            return starts;
        }
    }
}

/// Draws three of the public list of observables: the counts of the symbols and of the pairs of neighbours.
pub(super) fn observables(tier: LabTier, salt: &[u8]) -> Vec<String> {
    let mut list = observable_list(tier);
    let mut random = LabRandom::new(salt, "observables", 0);
    (0..3)
        .map(|_| list.remove(random.below(list.len())))
        .collect()
}

/// Returns the public list of observables of a tier.
fn observable_list(tier: LabTier) -> Vec<String> {
    let symbols = tier.symbols();
    let single = symbols.chars().map(|symbol| format!("count('{symbol}')"));
    let pair = |first| {
        symbols
            .chars()
            .map(move |second| format!("count_pattern('{first}{second}')"))
    };
    single.chain(symbols.chars().flat_map(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_rules_shifts_and_the_identity_are_degenerate() {
        for tier in [LabTier::A, LabTier::B] {
            let width = 2 * tier.radius() + 1;
            assert!(DrawnTable::new(tier, |_| 1).is_degenerate());
            for offset in 0..width {
                assert!(DrawnTable::new(tier, |window| window[offset]).is_degenerate());
                let renamed = DrawnTable::new(tier, |window| 2 - window[offset].min(2));
                assert!(renamed.is_degenerate());
            }
            let mut one_differs = DrawnTable::new(tier, |window| window[1]);
            one_differs.next[5] = (one_differs.next[5] + 1) % 3;
            assert!(!one_differs.is_degenerate());
        }
    }

    #[test]
    fn a_symmetric_rule_commutes_and_a_conserving_one_conserves() {
        for tier in [LabTier::A, LabTier::B] {
            let mut proper = 0;
            for number in 0..40 {
                let mut random = LabRandom::new(b"test", "draws", number);
                let table = symmetric(tier, &mut random).unwrap();
                let universe = tabulated(tier, &table).unwrap();
                let commutes = named_transforms(tier).unwrap().iter().any(|transform| {
                    let mut windows = universe.rule().windows();
                    windows.all(|(window, next)| {
                        universe.rule().next(&transform.apply(&window)) == image(transform, next)
                    })
                });
                assert!(commutes, "{tier:?} {number}");
                let table = conserving(tier, &mut random);
                if table.is_degenerate() {
                    continue;
                }
                proper += 1;
                let universe = tabulated(tier, &table).unwrap();
                let span = popper_harness::conserved::span(&universe, 1).unwrap();
                assert!(span.dimension > 1, "{tier:?} {number}");
            }
            assert!(proper > 20, "{tier:?} {proper}");
        }
    }

    #[test]
    fn every_exchange_of_symbols_has_a_name() {
        assert_eq!(transforms(LabTier::A).len(), 2 * 24 - 1);
        assert_eq!(transforms(LabTier::B).len(), 2 * 6 - 1);
        assert_eq!(observable_list(LabTier::C).len(), 4 + 16);
    }
}
