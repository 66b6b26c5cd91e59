use tracing::Level;

use crate::{CommonFlags, LogFormat, Progress};

/// Sends `tracing` events to stderr. A subscriber that is already there stays.
pub(crate) fn start(flags: &CommonFlags, progress: &Progress) {
    let builder = tracing_subscriber::fmt()
        .with_max_level(if flags.quiet {
            Level::WARN
        } else {
            Level::INFO
        })
        .with_writer(progress.clone());
    // The only error is a subscriber set before, by a program that wants its own.
    let _ = match flags.log_format {
        LogFormat::Text => builder.without_time().with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
