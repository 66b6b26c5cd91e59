//! The closed-form results for copiers that write one message per mind and round.

/// Returns the expected duplicate rate of the window if all `m` minds read the same last round.
///
/// `m` messages can be read and the innovation rate is `mu` (above 0). Two messages are equal if neither is new and
/// they have one parent or equal parents.
pub fn snapshot_duplicate_rate(m: u32, mu: f64) -> f64 {
    let (m, copied) = (f64::from(m), (1.0 - mu) * (1.0 - mu));
    copied / (m - (m - 1.0) * copied)
}

/// Returns the expected duplicate rate of the window if each mind reads the messages of those before it.
///
/// The window loses its oldest message and gains a copy of any of the `m`, so the number of minds does not matter.
pub fn sequential_duplicate_rate(m: u32, mu: f64) -> f64 {
    (1.0 - mu) / (1.0 + f64::from(m.saturating_sub(1)) * mu)
}

/// Returns the probability that a kind with `copies` of the `m` readable messages takes over, if all `m` minds read the
/// same last round and nothing is new.
pub fn takeover_probability(copies: u32, m: u32) -> f64 {
    f64::from(copies) / f64::from(m)
}

/// Returns the mean number of rounds until `m` different messages are all of one kind, if all `m` minds read the same
/// last round and nothing is new.
///
/// Backwards in time, `i` lines of descent have `j` parents with the probability that `i` balls thrown into `m` boxes
/// hit `j` of them. It is S(i, j) m (m-1) ... (m-j+1) / m^i, with Stirling's numbers of the second kind. The mean time
/// from `i` lines to one is E(i) = 1 + sum over j of that times E(j), with E(1) = 0.
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
