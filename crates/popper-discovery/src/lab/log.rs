//! The log of an episode, which is its record: a score can be computed from it again, and an episode that was killed continues from it.

use popper_harness::decide::EVALUATION_SEMANTICS;
use popper_harness::json;
use serde_json::Value;

use super::contract::LabContract;
use super::episode::{Episode, LabAnswer};
use super::error::LabError;
use super::sealed::SealedUniverse;

/// The most characters of a rejected line in a log: a player cannot fill a disk with lines that cost nothing.
const REJECTED_CHARS: usize = 1000;

/// Returns the entry of a log for a line and its answer, on one line.
///
/// Write it before the answer is handed out. Then whatever ends the program, no answer is lost that a player has seen.
pub fn log_entry(line: impl AsRef<[u8]>, answer: &LabAnswer) -> String {
    let text = String::from_utf8_lossy(line.as_ref());
    let text: String = if answer.is_error {
        text.chars().take(REJECTED_CHARS).collect()
    } else {
        text.into_owned()
    };
    // The answer is JSON already, and keeps the order of its keys.
    format!(
        "{{\"line\":{},\"answer\":{}}}",
        Value::from(text),
        answer.line
    )
}

/// A log that was read.
#[derive(Debug, Clone)]
pub struct EpisodeLog {
    contract: LabContract,
    /// Each accepted line with its answer, `None` for a rejected one, with the number of the log's line.
    entries: Vec<(usize, Option<(String, Value)>)>,
    complete_bytes: usize,
}

impl EpisodeLog {
    /// Reads a log. A last line that was cut off in the middle, as by a kill, is left out: its answer was not handed out.
    ///
    /// # Errors
    /// [`LabError::Log`] names the first line that an episode does not write.
    pub fn read(log: impl AsRef<[u8]>) -> Result<Self, LabError> {
        let wrong = |number, message: String| LabError::Log { number, message };
        // The cut may be inside of a character.
        let bytes = log.as_ref();
        let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if bytes[text.len()..].contains(&b'\n') {
            let number = text.split('\n').count();
            return Err(wrong(number, "is not UTF-8".to_owned()));
        }
        let mut lines = text.split_inclusive('\n').enumerate();
        let first = lines.next().map_or("", |(_, line)| line);
        let contract: LabContract = serde_json::from_str(first.trim()).map_err(|error| {
            let message = format!("expected the public part of a universe: {error}");
            wrong(1, message)
        })?;
        let mut log = Self {
            contract,
            entries: Vec::new(),
            complete_bytes: first.len(),
        };
        for (index, line) in lines {
            let number = index + 1;
            let value = match json::parse(line.trim_end(), "$") {
                Ok(value) => value,
                // A part of an object is never a whole one.
                Err(_) if !line.ends_with('\n') => break,
                Err(error) => return Err(wrong(number, error.to_string())),
            };
            let entry = value.as_object().filter(|entry| entry.len() == 2);
            let parts = entry.and_then(|entry| {
                Some((
                    entry.get("line")?.as_str()?,
                    entry.get("answer")?.as_object()?,
                ))
            });
            let Some((line_text, answer)) = parts else {
                let message = r#"expected {"line": "..", "answer": {..}}"#.to_owned();
                return Err(wrong(number, message));
            };
            let accepted = (!answer.contains_key("error"))
                .then(|| (line_text.to_owned(), Value::Object(answer.clone())));
            log.entries.push((number, accepted));
            log.complete_bytes += line.len();
        }
        Ok(log)
    }

    /// Returns the public part of the universe.
    pub fn contract(&self) -> &LabContract {
        &self.contract
    }

    /// Returns the length of the complete lines, in bytes. An episode that continues cuts its log to this length first.
    pub fn complete_bytes(&self) -> usize {
        self.complete_bytes
    }

    /// Plays the accepted lines again, and compares each answer.
    ///
    /// Rejected lines are counted, not read: they changed nothing.
    ///
    /// # Errors
    /// [`LabError::Mismatch`] or [`LabError::Edited`] if the log is about another universe, [`LabError::Log`] if an answer
    /// differs.
    pub fn replay(&self, sealed: SealedUniverse) -> Result<Episode, LabError> {
        sealed.check(&self.contract, "the log")?;
        let mut episode = Episode::new(sealed);
        for (number, accepted) in &self.entries {
            let Some((line, stated)) = accepted else {
                episode.reject();
                continue;
            };
            let answer = episode.line(line);
            let found: Value = serde_json::from_str(&answer.line).unwrap_or_default();
            if found != *stated && !is_by_another_harness(stated) {
                let (stated, found) = (short(stated), short(&found));
                let message = format!("the answer is {stated}, but the line gives {found}");
                return Err(LabError::Log {
                    number: *number,
                    message,
                });
            }
        }
        Ok(episode)
    }
}

/// Whether an answer is a score by other versions of the harness, whose verdicts may differ. The laws are then decided again.
fn is_by_another_harness(answer: &Value) -> bool {
    let decided_by = answer.get("laws").and_then(|laws| laws.get("decided_by"));
    decided_by.is_some_and(|versions| *versions != EVALUATION_SEMANTICS)
}

/// A value as it is repeated in an error.
fn short(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
