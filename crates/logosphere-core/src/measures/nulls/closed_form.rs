//! What theory says about copiers that write one message a mind and round.

/// The mean share of equal pairs in the window of a population in which all `m` minds read the same last round, with
/// `m` messages that can be read and innovation `mu` (above 0): two messages are equal if neither is new and they have
/// one parent or equal ones.
pub fn snapshot_duplicate_rate(m: u32, mu: f64) -> f64 {
    let (m, copied) = (f64::from(m), (1.0 - mu) * (1.0 - mu));
    copied / (m - (m - 1.0) * copied)
}

/// As [`snapshot_duplicate_rate`] if each mind reads what the ones before it wrote: the window loses its oldest message
/// and gains a copy of any of the `m`, so the number of minds does not matter.
pub fn sequential_duplicate_rate(m: u32, mu: f64) -> f64 {
    (1.0 - mu) / (1.0 + f64::from(m.saturating_sub(1)) * mu)
}

/// The probability that a kind with `copies` of the `m` readable messages takes over, when all `m` minds read the same
/// last round and nothing is new.
pub fn takeover_probability(copies: u32, m: u32) -> f64 {
    f64::from(copies) / f64::from(m)
}

/// The mean number of rounds until `m` different messages are all of one kind, when all `m` minds read the same last
/// round and nothing is new.
///
/// Seen backwards, `i` lines of descent have `j` parents with the probability that `i` balls thrown into `m` boxes hit
/// `j` of them: S(i, j) m (m-1) ... (m-j+1) / m^i with Stirling's numbers of the second kind. The mean time from `i`
/// lines to one is E(i) = 1 + sum over j of that times E(j), E(1) = 0.
pub fn mean_takeover_rounds(m: u32) -> f64 {
    let size = m as usize;
    let boxes = f64::from(m);
    // Ball by ball, so that nothing overflows: the next one hits a box that was hit before, or another.
    let mut hit = vec![0.0; size + 1];
    hit[0] = 1.0;
    let mut mean = vec![0.0; size + 1];
    for i in 1..=size {
        for j in (0..=i).rev() {
            let before = if j == 0 {
                0.0
            } else {
                hit[j - 1] * (boxes - (j - 1) as f64)
            };
            hit[j] = (hit[j] * j as f64 + before) / boxes;
        }
        if i > 1 {
            let merged: f64 = (1..i).map(|j| hit[j] * mean[j]).sum();
            mean[i] = (1.0 + merged) / (1.0 - hit[i]);
        }
    }
    mean[size]
}
