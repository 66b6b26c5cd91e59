use std::collections::HashSet;
use std::path::Path;

use llm_types::Usd;
use serde::Serialize;

use super::{CallTokens, DirectoryError, PlannedCall, RunDirectory};
use crate::LocalCounter;
use crate::plan::{Costs, Plan};
use crate::prompts::Role;
use crate::store::{StoredAnswer, read_calls};

/// The calls that a run would make, computed without sending anything.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The number of experiments.
    pub experiments: u64,
    /// The numbers of calls by their purpose.
    pub calls: CallCounts,
    /// The calls that models reply to.
    pub planned: Vec<PlannedCall>,
}

/// Numbers of calls by their purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallCounts {
    /// Calls that count tokens.
    pub count: u64,
    /// Calls that encode.
    pub encode: u64,
    /// Calls that decode.
    pub decode: u64,
    /// Calls that ask a judge for the kept meaning.
    pub judge_semantic: u64,
    /// Calls that ask a judge for the rules.
    pub judge_implementability: u64,
    /// Calls that ask a judge of the user's rubric.
    pub judge_own: u64,
    /// Calls that carry out a decoded text.
    pub execute: u64,
    /// Calls that measure prompts, of a provider other than Anthropic, which may not count tokens.
    pub measure: u64,
    /// The sum of all calls.
    pub total: u64,
}

impl Estimate {
    /// Lists the calls of a run of `plan`.
    pub fn of(plan: &Plan, counter: &dyn LocalCounter) -> Self {
        let planned = plan.calls(counter);
        Self {
            experiments: plan.items().count() as u64,
            calls: CallCounts::of(plan, &planned),
            planned,
        }
    }

    /// Expects replies as long as the mean reply of each role in the run directory `path`; a role without replies there keeps its
    /// usual length. The run may be under way: a last line of its calls without its end is left out.
    ///
    /// # Errors
    /// [`DirectoryError`]: the calls cannot be read, or none of them reports its tokens.
    pub fn like(mut self, path: &Path) -> Result<Self, DirectoryError> {
        let lengths = reply_lengths(path)?;
        for call in &mut self.planned {
            let known = lengths.iter().find(|(role, _)| *role == call.role);
            call.expected.reply = known.map_or(call.expected.reply, |(_, tokens)| *tokens);
        }
        Ok(self)
    }

    /// The tokens of all calls, where `one` gives those of one call.
    pub fn tokens(&self, one: impl Fn(&PlannedCall) -> CallTokens) -> CallTokens {
        let mut sum = CallTokens::default();
        for call in &self.planned {
            let tokens = one(call);
            sum.prompt += call.times * tokens.prompt;
            sum.reply += call.times * tokens.reply;
        }
        sum
    }

    /// The price of all calls, where `one` gives that of one call; `None` if one is not known.
    pub fn usd(&self, one: impl Fn(&PlannedCall) -> Option<Usd>) -> Option<Usd> {
        self.planned.iter().try_fold(Usd::ZERO, |sum, call| {
            let all = one(call)?.0.checked_mul(i64::try_from(call.times).ok()?)?;
            sum.checked_add(Usd(all))
        })
    }
}

impl CallCounts {
    fn of(plan: &Plan, calls: &[PlannedCall]) -> Self {
        let config = &plan.config;
        // Each encoder model counts its own tokens.
        let encoders = config.encoders().len() as u64;
        let encodings = plan.encodings.len() as u64 * encoders;
        let texts: HashSet<_> = plan.cases.iter().map(|one| &one.case.text).collect();
        let encoded = encodings * plan.cases.len() as u64 * u64::from(config.trials);
        let mut counts = Self {
            count: (texts.len() as u64 + u64::from(config.measure_overhead)) * encoders + encoded,
            ..Self::default()
        };
        if config.cost == Costs::Counted {
            counts.count += encodings;
        }
        for call in calls {
            let kind = match call.role {
                Role::Encoder => &mut counts.encode,
                Role::Decoder => &mut counts.decode,
                Role::SemanticJudge => &mut counts.judge_semantic,
                Role::ImplementabilityJudge => &mut counts.judge_implementability,
                Role::OwnJudge => &mut counts.judge_own,
                // A program is not planned as a call.
                Role::Executor | Role::OwnProgram => &mut counts.execute,
                Role::MeasureEncoder | Role::MeasureDecoder => &mut counts.measure,
            };
            *kind += call.times;
        }
        counts.total = counts.count + calls.iter().map(|call| call.times).sum::<u64>();
        counts
    }
}

/// The mean tokens of replies by role, as the calls of a run report them.
fn reply_lengths(path: &Path) -> Result<Vec<(Role, u64)>, DirectoryError> {
    let path = RunDirectory::calls_in(path);
    let mut sums: Vec<(Role, u64, u64)> = Vec::new();
    read_calls(&path, |record| {
        let (StoredAnswer::Reply(reply), Some(role)) = (record.answer, record.role) else {
            return;
        };
        let Some(usage) = reply.usage else { return };
        match sums.iter_mut().find(|(known, ..)| *known == role) {
            Some((_, tokens, replies)) => {
                *tokens = tokens.saturating_add(usage.output);
                *replies += 1;
            }
            None => sums.push((role, usage.output, 1)),
        }
    })?;
    if sums.is_empty() {
        return Err(DirectoryError::NoReplies { path });
    }
    let means = sums.into_iter();
    Ok(means
        .map(|(role, tokens, replies)| (role, tokens.div_ceil(replies)))
        .collect())
}
