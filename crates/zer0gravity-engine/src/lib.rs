//! Encode a text, let a fresh agent decode it, score the round trip on 100 points.

pub mod codec;
pub mod cost;
pub mod dataset;
pub mod flags;
mod hash;
pub mod judge;
pub mod lint;
#[cfg(feature = "llm")]
mod llm;
mod matrix;
pub mod metrics;
mod number;
mod offline;
mod outcome;
pub mod pipeline;
pub mod plan;
mod port;
pub mod procedure;
pub mod prompts;
pub mod report;
mod result;
mod score;
pub mod stats;
pub mod store;
mod text;
mod tokens;

pub use codec::{Decoded, Lexicon, RuleCodec};
pub use cost::{
    Amortised, Cost, CostCurve, Messages, MoneySaved, Saving, amortised, known_wrapper_tokens,
};
pub use dataset::{
    Case, CaseError, CaseFormat, CaseProblem, MAX_TEXT_BYTES, RulesError, Triple, normalise_rules,
    parse_cases, parse_triples,
};
pub use flags::{Flag, FlagId, FlagInput, Severity, detect};
pub use judge::{
    CompatReply, JudgeReply, JudgeStatus, js_number, parse_judge_reply, parse_judge_reply_compat,
    reply_text,
};
pub use lint::{LintFinding, LintReport, lint};
#[cfg(feature = "llm")]
pub use llm::LlmPort;
pub use matrix::{Event, RunError, run_matrix, run_plan, score_triples};
pub use metrics::{chrf_pp, literal_recall, rouge_l};
pub use offline::OfflineModel;
pub use outcome::{Outcome, StageName, StageRecord, StageStatus, TokenUse};
pub use pipeline::{Context, run_experiment};
pub use port::{
    CallFacts, Clock, CountRequest, Material, ModelPort, ModelReply, ModelRequest, PortError,
    PortLabel, Repeat, Stop, TokenCount,
};
pub use procedure::{Procedure, Step, run_procedure};
#[cfg(feature = "report")]
pub use report::page;
pub use report::{Comparison, Report, compare, export_csv, export_json};
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
pub use stats::{Components, PairedResult, StatsError, paired_test, variance_components};
pub use text::{js_trim, preview};
pub use tokens::{
    LocalCounter, TokenSource, Tokenizers, estimated_message_tokens, estimated_text_tokens,
};

/// The encoding system that is used when none is given.
pub const DEFAULT_RULES: &str = include_str!("data/default_rules.txt");
