use jiff::Timestamp;
use llm_client::Clock;

/// The time of day, as records and files contain it.
pub(crate) fn timestamp(clock: &dyn Clock) -> Timestamp {
    Timestamp::try_from(clock.now()).unwrap_or(Timestamp::MAX)
}
