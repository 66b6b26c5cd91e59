//! The search for React: its clients, their time limit, and the variables that they do not get.

use std::time::Duration;

use bin_support::escape;
use hermitcrab_face::ReactSources;

use crate::key_file::key_variables;

/// The time limit of npm, and that of pip.
pub const CLIENT_LIMIT: Duration = Duration::from_mins(1);

/// Returns the clients of the search path. `again` asks them also on the day after a failure.
pub fn react_sources(again: bool) -> ReactSources {
    let mut sources = ReactSources::new(CLIENT_LIMIT);
    for client in [&mut sources.npm, &mut sources.pip] {
        client.hidden = key_variables();
    }
    sources.again = again;
    sources
}

/// Logs the line with which an installation begins.
pub fn show_begin(line: &str) {
    let most = CLIENT_LIMIT.as_secs();
    tracing::info!("{} (at most {most} s each)", escape(line));
}
