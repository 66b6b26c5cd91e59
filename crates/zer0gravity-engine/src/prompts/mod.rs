//! The prompts of each role. The texts are files in this folder.

mod guarded;
mod prompt;
mod render;

pub use guarded::Nonce;
pub use prompt::{
    ASK_AGAIN, DECODER, ENCODER, EXECUTOR, IMPLEMENTABILITY_JUDGE, MAX_EXECUTOR_TOKENS,
    MAX_JUDGE_TOKENS, MAX_MEASURE_TOKENS, MAX_OUTPUT_TOKENS, OwnPrompt, Prompt, PromptMessage,
    PromptProfile, Role, RoleInput, SEMANTIC_JUDGE, Turn,
};
pub use render::render;
