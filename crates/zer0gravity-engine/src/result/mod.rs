//! The result of an experiment, with the fields and the order of the JSON file.

mod atom_metrics;
pub(crate) mod experiment;
mod own_score;
mod parts;
pub(crate) mod shared;

pub use atom_metrics::{AtomFinding, AtomMetrics, AtomText, KindMetrics};
pub use own_score::{OwnScore, OwnStatus};
pub use parts::{
    Details, JudgeRecord, JudgeSample, Metadata, Metrics, Models, PartialTotal, PreviousScores,
    Procedural, ProceduralStatus, PromptHashes, Randomness, ResultScores, SCHEMA_VERSION,
};
pub(crate) use parts::{complete, is_readable, timestamp};
