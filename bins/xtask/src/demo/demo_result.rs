use crate::Error;

/// The result of a program.
pub struct DemoResult {
    pub program: String,
    pub outcome: Result<DemoOutcome, Error>,
}

/// The outcome of a demo: a line, and the page with all of it.
pub struct DemoOutcome {
    pub line: String,
    /// The path from the workspace's root.
    pub page: String,
}

impl DemoResult {
    /// The line of the outcome, or the reason of the failure.
    pub fn line(&self) -> String {
        match &self.outcome {
            Ok(outcome) => outcome.line.clone(),
            Err(error) => format!("failed: {error}"),
        }
    }

    pub fn page(&self) -> Option<&str> {
        let outcome = self.outcome.as_ref().ok()?;
        Some(&outcome.page)
    }
}
