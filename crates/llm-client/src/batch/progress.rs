use std::fmt;

/// The progress of a spool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// The number of requests in the spool.
    pub requests: usize,
    /// The number of requests with a reply, or with an error that no process asks about again.
    pub results: usize,
    /// The number of requests of this process that wait for a batch.
    pub waiting: usize,
    /// The number of batches under way.
    pub batches: usize,
    /// The number of requests that a batch returned without a result, so that they went into another one.
    pub again: usize,
    /// The problems that pass or need no action: a server that does not answer, results of other requests.
    pub problems: Vec<String>,
}

impl Progress {
    /// Whether no result is to be waited for.
    pub fn is_done(&self) -> bool {
        self.waiting == 0 && self.batches == 0
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            requests,
            results,
            again,
            ..
        } = self;
        write!(f, "{results} of {requests} results are in")?;
        match again {
            0 => Ok(()),
            again => write!(f, ", {again} requests went again"),
        }
    }
}
