//! Encode a text, let a fresh agent decode it, score the round trip on 100 points.

pub mod codec;
pub mod cost;
pub mod dataset;
pub mod flags;
mod hash;
pub mod judge;
pub mod lint;
pub mod metrics;
mod number;
mod outcome;
pub mod plan;
mod port;
pub mod procedure;
pub mod prompts;
pub mod report;
mod result;
mod score;
pub mod stats;
mod text;
mod tokens;

pub use codec::{Decoded, Lexicon, RuleCodec};
pub use lint::{LintFinding, LintReport, lint};
pub use metrics::{chrf_pp, literal_recall, rouge_l};
pub use outcome::{Outcome, StageName, StageRecord, StageStatus, TokenUse};
pub use port::{
    CallFacts, Clock, CountRequest, ModelPort, ModelReply, ModelRequest, PortError, PortLabel,
    Repeat, Stop, TokenCount,
};
pub use procedure::{Procedure, Step, run_procedure};
pub use result::{
    Details, ExperimentResult, JudgeRecord, JudgeSample, Metadata, Metrics, Models, Points,
    PreviousScores, Procedural, ProceduralStatus, PromptHashes, Randomness, ResultScores,
    SCHEMA_VERSION,
};
pub use score::{
    CompatCard, CompatScores, MAX_IMPLEMENTABILITY, MAX_LEARNABILITY, MAX_SEMANTIC,
    MAX_TOKEN_EFFICIENCY, ScoreCard, Scores, TokenPair, compression_percent, compression_ratio,
    fallback_tokens_chars4, learnability, round_half_up, score_all, score_all_f64,
    token_efficiency,
};
pub use text::{js_trim, preview};
pub use tokens::{
    LocalCounter, TokenSource, Tokenizers, estimated_message_tokens, estimated_text_tokens,
};

/// The encoding system that is used when none is given.
pub const DEFAULT_RULES: &str = include_str!("data/default_rules.txt");
