use super::StubRole;
use crate::Signal;

/// Answers nothing until the client can ask nothing more: then everybody at once, one wave after another.
///
/// What the client can ask follows from what it knows: an experiment goes on when its last reply is there.
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
    /// For so many experiments and so many requests at once.
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

    /// A request came; its answer waits for the signal.
    pub fn came(&mut self, role: StubRole) -> Signal {
        self.wave.push(role);
        let release = self.release.clone();
        if self.ended || self.wave.len() >= self.possible.min(self.limit) {
            self.let_go();
        }
        release
    }

    /// Whoever waits has waited long enough, and nobody waits from now on.
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
