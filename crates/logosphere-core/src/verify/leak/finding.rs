//! The findings of a search for leaks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The severity of a finding. The worst is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Minds receive information about the experiment.
    Leak,
    /// A mind wrote the text: a guess or a coincidence, not a leak.
    #[serde(rename = "minded")]
    WrittenByMind,
    /// The author of the experiment put the text there. The finding is for information.
    ByDesign,
}

/// The kind of information that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeakKind {
    /// A prompt differs from the system prompt and the sampled messages.
    Prompt,
    /// The messages of a prompt, or their order, differ from the sample that the random seed gives.
    Sample,
    /// A request has a message, or a part of one, in addition to the prompt.
    Turn,
    /// A request has a field that the settings do not contain, or another value of one.
    Field,
    /// A request differs from the one built from its prompt.
    Body,
    /// A header differs between requests, or is unnecessary.
    Header,
    /// The signature below every seed message.
    Stamp,
    /// The number of a round.
    Round,
    /// The number of a mind.
    Mind,
    /// The number of minds, or another setting by its letter, such as `K=3`.
    Count,
    /// The number of messages of a prompt or of the pool.
    Amount,
    /// The number of a message.
    Message,
    /// A date or a time of day.
    Time,
    /// A number of tokens or an amount of money.
    Cost,
    /// The number of an attempt.
    Retry,
    /// The run's id, or the experiment's name or path.
    Name,
    /// The id of the model.
    Model,
}

/// Information that minds can read or could read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The kind of information.
    pub kind: LeakKind,
    /// The place, such as `round 3, mind 1 (line 12)`; the first one of several.
    pub place: String,
    /// The text that was found.
    pub detail: String,
    /// The number of places in which it was found.
    pub times: u64,
}

/// The result of a search for leaks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeakReport {
    /// Whether there is no finding of severity [`Severity::Leak`].
    pub holds: bool,
    /// The number of calls whose prompt and request were rebuilt.
    pub calls: u64,
    /// The number of captured requests.
    pub captured: u64,
    /// The number of captured requests that equal a rebuilt one.
    pub equal: u64,
    /// The number of captured requests that equal calls without an event, which were in flight when the run stopped.
    pub uncommitted: u64,
    /// The number of calls without a captured request; 0 if none was captured at all.
    pub uncaptured: u64,
    /// The findings, the worst first, then in the order found.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Severity {
    /// Writes the word of the JSON form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for LeakKind {
    /// Writes the word of the JSON form.
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

/// A list of findings that counts similar ones as one.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<(String, Finding)>);

impl Findings {
    /// Adds a finding. Findings with the same severity, kind and `about` are similar.
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

    /// Returns the findings, the worst first.
    pub fn sorted(self) -> Vec<Finding> {
        let mut findings: Vec<_> = self.0.into_iter().map(|(_, finding)| finding).collect();
        findings.sort_by_key(|finding| finding.severity);
        findings
    }
}
