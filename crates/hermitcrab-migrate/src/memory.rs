use pscale_blocks::{Block, BlockError, Path, PathError};

use crate::pack::{base9, write_long};

/// A block of numbered entries: `(number, old path, text)`. Numbers that end with zeros were summaries of what came before.
///
/// Answers the paths of what has no place because the block is full, too.
pub(crate) fn numbered<'a>(
    head: &str,
    entries: &[(u32, &'a str, &'a str)],
) -> (Block, Vec<&'a str>) {
    let mut block = Block::new(head);
    let levels = levels(entries.iter().map(|(number, ..)| *number));
    if let Some(levels) = levels {
        // A new block takes any decimal up to 32, and there are at most seven levels.
        let _ = block.set_decimal(levels as u8 + 1);
    }
    let mut homeless = Vec::new();
    for (number, path, text) in entries {
        let written = place(*number, levels)
            .map_err(BlockError::from)
            .and_then(|place| write_long(&mut block, place, path, text));
        if written.is_err() {
            homeless.push(*path);
        }
    }
    (block, homeless)
}

/// Whether the number was that of a summary.
pub(crate) fn is_summary(number: u32) -> bool {
    number.is_multiple_of(10)
}

fn zeros(number: u32) -> usize {
    let mut zeros = 0;
    while number > 0 && number.is_multiple_of(10_u32.pow(zeros + 1)) {
        zeros += 1;
    }
    zeros as usize
}

/// The number of levels between head and entries. `None` if all numbers are up to 9 and their entries are below the head.
fn levels(numbers: impl Iterator<Item = u32> + Clone) -> Option<usize> {
    let largest = numbers.clone().max().filter(|largest| *largest > 9)?;
    let digits = base9((largest as usize - 1) / 10, 1).len();
    Some(digits.max(numbers.map(zeros).max().unwrap_or(0)))
}

/// The path of entry or summary `number` below the head 0. Ten numbers were a decade: nine entries and their summary.
/// Decades are counted from 0, and a node has nine of them, so that 91 to 99 open the next node.
fn place(number: u32, levels: Option<usize>) -> Result<Path, PathError> {
    let Some(levels) = levels else {
        return Path::from_digits([0, number as u8]);
    };
    let number_of = |zeros: u32| (number / 10_u32.pow(zeros)) as usize - 1;
    let mut digits = vec![0];
    match zeros(number) {
        0 => {
            digits.extend(base9((number as usize - 1) / 10, levels));
            digits.push((number % 10) as u8);
        }
        // The tens sum up decades, the hundreds what is one level above, and so on.
        zeros => digits.extend(base9(number_of(zeros as u32), levels + 1 - zeros)),
    }
    Path::from_digits(digits)
}

#[cfg(test)]
mod tests {
    use super::{levels, place};

    #[test]
    fn places_of_numbers() {
        let at = |number, all: &[u32]| {
            place(number, levels(all.iter().copied()))
                .unwrap()
                .to_string()
        };
        assert_eq!(at(9, &[1, 9]), "0.9");
        assert_eq!(at(9, &[1, 10]), "0.1.9");
        assert_eq!(at(10, &[1, 10]), "0.1");
        assert_eq!(at(23, &[23]), "0.3.3");
        assert_eq!(at(90, &[90]), "0.9");
        assert_eq!(at(91, &[91]), "0.2.1.1");
        assert_eq!(at(100, &[91, 100]), "0.1");
        assert_eq!(at(99, &[99, 100]), "0.2.1.9");
        assert_eq!(at(1000, &[1000]), "0.1");
        assert_eq!(at(11_000, &[11_000]), "0.2.2");
        assert_eq!(at(999_999, &[999_999]), "0.2.7.3.2.6.1.9");
    }

    #[test]
    fn no_two_numbers_share_a_place() {
        for most in [9, 10, 99, 100, 101, 12_345] {
            let levels = levels(1..=most);
            let mut places: Vec<_> = (1..=most)
                .map(|number| place(number, levels).unwrap())
                .collect();
            places.sort();
            places.dedup();
            assert_eq!(places.len(), most as usize);
        }
    }
}
