//! One step of exact elimination, for spaces of additive quantities.

use num_integer::gcd;

/// Subtracts a multiple of another row, so that the entry at `lead` is 0, and divides by the common divisor. A row whose entry is
/// 0 already is returned unchanged. Returns `None` if an entry needs more than 128 bits.
pub(crate) fn eliminate(row: &[i128], other: &[i128], lead: usize) -> Option<Vec<i128>> {
    let (factor, keep) = (*row.get(lead)?, *other.get(lead)?);
    if factor == 0 {
        return Some(row.to_vec());
    }
    let entries = row.iter().zip(other).map(|(&entry, &other)| {
        entry
            .checked_mul(keep)?
            .checked_sub(factor.checked_mul(other)?)
    });
    Some(primitive(entries.collect::<Option<_>>()?))
}

/// Divides a row by the common divisor of its entries.
pub(crate) fn primitive(row: Vec<i128>) -> Vec<i128> {
    let divisor = row.iter().fold(0, |divisor, &entry| gcd(divisor, entry));
    if divisor > 1 {
        row.into_iter().map(|entry| entry / divisor).collect()
    } else {
        row
    }
}
