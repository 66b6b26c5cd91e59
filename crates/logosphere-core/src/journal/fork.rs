//! The events of a fork: where a journal leaves that of its parent, and what is changed there.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::event::RequestTemplate;
use crate::config::MindEntry;
use crate::pool::{MessageId, MindId, Round};

/// The start of a fork: the lines before it are those of the parent, byte for byte.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forked {
    /// The id of the run from here on.
    pub run_id: String,
    /// The id of the parent.
    pub parent_run_id: String,
    /// The number of the parent's last line, from 0.
    pub parent_seq: u64,
    /// The chain of that line.
    pub parent_chain: String,
    /// The arm.
    pub arm: ForkArm,
    /// The replicate, from 0. Both arms of a replicate draw the same random numbers.
    pub replicate: u32,
    /// The random seed from here on; see [`fork_seed`].
    pub seed: u64,
    /// The last round.
    pub max_rounds: u32,
}

impl Forked {
    /// Returns the event of a fork whose last round is `max_rounds`. The [`Orchestrator`](crate::Orchestrator) fills in
    /// the facts of the parent.
    pub fn new(run_id: impl Into<String>, arm: ForkArm, replicate: u32, max_rounds: u32) -> Self {
        Self {
            run_id: run_id.into(),
            parent_run_id: String::new(),
            parent_seq: 0,
            parent_chain: String::new(),
            arm,
            replicate,
            seed: 0,
            max_rounds,
        }
    }
}

/// An arm of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a fork has two arms")]
pub enum ForkArm {
    /// The run as it is.
    #[serde(rename = "control")]
    Unchanged,
    /// The run with the interventions.
    Treated,
}

impl ForkArm {
    /// Returns the word in journals, which is the name of the arm's folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "control",
            Self::Treated => "treated",
        }
    }
}

/// Returns the random seed of a replicate: that of the parent for replicate 0, else the first 8 bytes (little-endian) of the
/// SHA-256 of `logosphere/fork/v1`, that seed and the replicate as decimals, separated by line feeds.
pub fn fork_seed(seed: u64, replicate: u32) -> u64 {
    if replicate == 0 {
        return seed;
    }
    let digest = Sha256::digest(format!("logosphere/fork/v1\n{seed}\n{replicate}"));
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_le_bytes(first)
}

/// A change from outside, before the next call. It follows the event with which a process or a fork begins.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intervention {
    /// The round of the next call.
    pub round: Round,
    /// The mind of the next call.
    pub next_mind: MindId,
    /// The change.
    #[serde(flatten)]
    pub change: InterventionChange,
}

/// A change from outside.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a run has few of them")]
pub enum InterventionChange {
    /// Messages enter the pool.
    Inject {
        /// The texts as the pool stores them.
        texts: Vec<String>,
        /// The ids of the messages.
        added_ids: Vec<MessageId>,
    },
    /// Messages can be read no longer. They stay in the history, and no older one can be read in their place.
    Ablate {
        /// The ids of the messages.
        ids: Vec<MessageId>,
    },
    /// A position is played by another mind.
    SwapMind {
        /// The position, from 0.
        mind_id: MindId,
        /// The mind before.
        old: MindEntry,
        /// The mind from here on.
        new: MindEntry,
        /// The constant part of its requests.
        request_template: RequestTemplate,
    },
    /// A setting changes.
    Set {
        /// The setting, such as `options.temperature`.
        setting: String,
        /// The value before.
        old: Value,
        /// The value from here on.
        new: Value,
        /// The constant part of all requests from here on, if the setting is part of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_template: Option<RequestTemplate>,
    },
}

impl Intervention {
    /// Returns a change before the next call, whose place the [`Orchestrator`](crate::Orchestrator) fills in, and the ids of
    /// messages that are added.
    pub fn new(change: InterventionChange) -> Self {
        Self {
            round: Round::default(),
            next_mind: MindId::default(),
            change,
        }
    }
}
