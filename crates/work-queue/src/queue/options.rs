use crate::connection::Timing;

/// The settings of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueOptions {
    /// The name that the server shows for the sessions.
    pub application: String,
    /// The times that all processes share.
    pub timing: Timing,
}

impl QueueOptions {
    /// The default settings under a name that the server shows.
    pub fn new(application: &str) -> Self {
        Self {
            application: application.to_owned(),
            timing: Timing::default(),
        }
    }
}
