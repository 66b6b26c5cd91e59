use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::{CommonFlags, LogFormat, Progress};

/// Sends `tracing` events to stderr. A subscriber that is already there stays.
pub(crate) fn start(flags: &CommonFlags, progress: &Progress) {
    let level = if flags.quiet {
        Level::WARN
    } else {
        Level::INFO
    };
    // This library tells of every message, in the words of its own source.
    let levels = Targets::new()
        .with_default(level)
        .with_target("rmcp", Level::ERROR);
    let builder = tracing_subscriber::fmt().with_writer(progress.clone());
    // The only error is a subscriber set before, by a program that wants its own.
    let _ = match flags.log_format {
        LogFormat::Text => {
            let lines = builder.without_time().with_target(false).finish();
            lines.with(levels).try_init()
        }
        LogFormat::Json => {
            let objects = builder.json().flatten_event(true).finish();
            objects.with(levels).try_init()
        }
    };
}
