use super::StubRole;
use crate::Signal;

/// A barrier that holds all answers until the client can make no further request, then releases them in waves.
///
/// The possible requests follow from the replies so far: an experiment continues when its last reply has arrived.
#[derive(Debug)]
pub(super) struct Barrier {
    limit: usize,
    /// Requests that can be made with the replies given so far, and were not answered yet.
    possible: usize,
    wave: Vec<StubRole>,
    release: Signal,
    ended: bool,
    pub sizes: Vec<usize>,
}

impl Barrier {
    /// A barrier for this number of experiments and concurrent requests.
    pub fn new(experiments: usize, limit: usize) -> Self {
        Self {
            limit,
            possible: experiments,
            wave: Vec::new(),
            release: Signal::new(),
            ended: false,
            sizes: Vec::new(),
        }
    }

    /// Adds a request whose answer waits for the signal.
    pub fn came(&mut self, role: StubRole) -> Signal {
        self.wave.push(role);
        let release = self.release.clone();
        if self.ended || self.wave.len() >= self.possible.min(self.limit) {
            self.let_go();
        }
        release
    }

    /// Releases all waiting answers and holds none from now on.
    pub fn end(&mut self) {
        self.ended = true;
        self.let_go();
    }

    fn let_go(&mut self) {
        self.sizes.push(self.wave.len());
        let after: usize = self.wave.iter().map(|role| role.calls_after()).sum();
        self.possible = (self.possible + after).saturating_sub(self.wave.len());
        self.wave.clear();
        self.release.fire();
        self.release = Signal::new();
    }
}
