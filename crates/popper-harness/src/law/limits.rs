//! The limits of laws and their parts.

/// The longest expression or claim, in bytes.
pub const MAX_TEXT: usize = 4096;
/// The deepest nesting of operators and parentheses that is read, and the longest chain of operators of one level.
///
/// It protects the stack; the limits of a law are checked on its normal form.
pub const MAX_NESTING: usize = 256;
/// The longest horizon and window, in steps.
pub const MAX_STEPS: u64 = 1_000_000_000;
/// The most observables, preconditions or proposed tests of one law.
pub const MAX_ITEMS: usize = 64;
/// The largest tested ring, in cells. A law that only larger rings can decide is UNKNOWN `resource_limit`.
pub const MAX_RING: u64 = 4096;
/// The most cases a proposer may ask for.
pub const MAX_CASES: u64 = 1_000_000;
/// The most nodes of a claim tree.
pub const MAX_NODES: usize = 4096;
/// The longest normal form, in bytes of JSON.
pub const MAX_NORMAL: usize = 64 << 10;
