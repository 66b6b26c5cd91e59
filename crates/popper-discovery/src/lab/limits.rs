//! The limits of an episode, and the size of its questions.

/// The version of the files, of the log and of the score.
pub const LAB_VERSION: &str = "1.0.0";

/// The budget of an episode, in cells: an experiment of N cells and k steps costs N * k of them.
pub const BUDGET: u64 = 4096;

/// The most cells of a ring in an experiment. One large ring could hold every window, and would settle tiers A and B at once.
pub const MOST_CELLS: usize = 8;

/// The most laws of an episode.
pub const MOST_LAWS: usize = 20;

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// The number of held-out starts.
pub(super) const STARTS: usize = 64;

/// The number of cells of a held-out start.
pub(super) const START_CELLS: usize = 33;

/// The steps after which the state of a held-out start is asked for.
pub(super) const TIMES: [u64; 3] = [1, 4, 16];
