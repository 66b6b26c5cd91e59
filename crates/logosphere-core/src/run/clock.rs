use jiff::Timestamp;

/// The time, as whoever runs the experiment has it. It is written beside what happened and decides nothing but the
/// cap on it.
pub trait Clock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// Milliseconds since a moment of the clock's own choice; they never go back.
    fn monotonic_ms(&self) -> u64;
}
