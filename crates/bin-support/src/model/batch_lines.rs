use std::collections::HashSet;

use llm_client::batch::Progress;

use crate::{Session, escape};

/// The progress of batches on stderr. Each line is written once.
#[derive(Debug, Default)]
pub struct BatchLines {
    told: HashSet<String>,
}

impl BatchLines {
    /// Writes what is new: problems as warnings, and the number of results.
    pub fn tell(&mut self, progress: &Progress, session: &Session) {
        for problem in &progress.problems {
            if self.told.insert(problem.clone()) {
                session.warn(&escape(problem));
            }
        }
        let line = format!("{progress}, batches under way: {}", progress.batches);
        if self.told.insert(line.clone()) {
            session.status(&line);
        }
    }
}
