//! One step of exact elimination, for spaces of additive quantities.

use num_integer::gcd;

/// A row less a multiple of another, so that its entry at `lead` is 0, without a common divisor; the row itself where that entry is
/// 0 already. `None` where 128 bits do not hold an entry.
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

/// A row divided by the common divisor of its entries.
pub(crate) fn primitive(row: Vec<i128>) -> Vec<i128> {
    let divisor = row.iter().fold(0, |divisor, &entry| gcd(divisor, entry));
    if divisor > 1 {
        row.into_iter().map(|entry| entry / divisor).collect()
    } else {
        row
    }
}
