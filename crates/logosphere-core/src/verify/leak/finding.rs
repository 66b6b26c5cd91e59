//! What a search for leaks finds.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad a finding is. The worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Minds are told something of the experiment.
    Leak,
    /// A mind wrote it: a guess or a chance, no leak.
    #[serde(rename = "minded")]
    WrittenByMind,
    /// Whoever made the experiment put it there, and it is said here so that readers know.
    ByDesign,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeakKind {
    /// A prompt is not the system prompt and the messages that were sampled.
    Prompt,
    /// The messages of a prompt, or their order, are not those that the seed draws.
    Sample,
    /// A request has a turn, or a part of one, that is not the prompt.
    Turn,
    /// A request has a field that the settings do not give it, or another value in one.
    Field,
    /// A request is not the one that the prompt makes.
    Body,
    /// A header that differs from request to request, or that no request needs.
    Header,
    /// The signature below every seed.
    Stamp,
    /// A round's number.
    Round,
    /// A mind's number.
    Mind,
    /// How many minds there are, or another number of the experiment by its letter, such as `K=3`.
    Count,
    /// As many messages as a prompt or the pool has.
    Amount,
    /// A message's number.
    Message,
    /// A date or a time.
    Time,
    /// Tokens or money.
    Cost,
    /// The number of a try.
    Retry,
    /// The run's id, the experiment's name or its place.
    Name,
    /// The model.
    Model,
}

/// Something that minds can read, or could.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub kind: LeakKind,
    /// Where, such as `round 3, mind 1 (line 12)`; the first place if there are more.
    pub place: String,
    /// What is there.
    pub detail: String,
    /// In how many places it was found.
    pub times: u64,
}

/// What a search for leaks comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LeakReport {
    /// Whether there is no leak.
    pub holds: bool,
    /// Calls whose prompt and request were made again.
    pub calls: u64,
    /// Requests that were captured.
    pub captured: u64,
    /// Captured requests that equal one that was made again.
    pub equal: u64,
    /// Captured requests that are equal to those of calls which the run was about to commit when it stopped.
    pub uncommitted: u64,
    /// Calls of which no request was captured; 0 if none was at all.
    pub uncaptured: u64,
    /// The worst first, then in the order found.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Severity {
    /// As it is written in JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for LeakKind {
    /// As it is written in JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            severity,
            kind,
            place,
            detail,
            times,
        } = self;
        write!(f, "{severity} {kind}: {place}: {detail}")?;
        match times {
            0 | 1 => Ok(()),
            times => write!(f, " ({times} times)"),
        }
    }
}

/// Findings as they come, those alike as one.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<(String, Finding)>);

impl Findings {
    /// Takes in a finding. Findings with the same severity, kind and `about` are alike.
    pub fn add(
        &mut self,
        severity: Severity,
        kind: LeakKind,
        about: &str,
        place: impl fmt::Display,
        detail: impl Into<String>,
    ) {
        let alike = |(other, found): &&mut (String, Finding)| {
            other == about && found.severity == severity && found.kind == kind
        };
        if let Some((_, found)) = self.0.iter_mut().find(alike) {
            found.times += 1;
            return;
        }
        let finding = Finding {
            severity,
            kind,
            place: place.to_string(),
            detail: detail.into(),
            times: 1,
        };
        self.0.push((about.to_owned(), finding));
    }

    /// The findings, the worst first.
    pub fn sorted(self) -> Vec<Finding> {
        let mut findings: Vec<_> = self.0.into_iter().map(|(_, finding)| finding).collect();
        findings.sort_by_key(|finding| finding.severity);
        findings
    }
}
