use serde_json::json;

use super::{
    DECODER, ENCODER, EXECUTOR, IMPLEMENTABILITY_JUDGE, MAX_EXECUTOR_TOKENS, MAX_JUDGE_TOKENS,
    MAX_MEASURE_TOKENS, MAX_OUTPUT_TOKENS, Nonce, Prompt, PromptMessage, PromptProfile, Role,
    RoleInput, SEMANTIC_JUDGE,
};
use crate::text::hash::sha256_hex;

const RULES: &str = "{encodingSystem}";

impl RoleInput<'_> {
    /// The role that gets to see this.
    pub fn role(&self) -> Role {
        match self {
            Self::Encode { .. } => Role::Encoder,
            Self::Decode { .. } => Role::Decoder,
            Self::Semantic { .. } => Role::SemanticJudge,
            Self::Implementability { .. } => Role::ImplementabilityJudge,
            Self::Execute { .. } => Role::Executor,
            Self::Own(_) => Role::OwnJudge,
        }
    }
}

/// The whole question to a role. `nonce` is used by [`PromptProfile::Guarded`] alone.
///
/// ```
/// use zer0gravity_engine::prompts::{Nonce, PromptProfile, RoleInput, render};
/// let input = RoleInput::Decode { rules: "drop vowels", encoded: "hll wrld" };
/// let prompt = render(PromptProfile::Plain, input, Nonce::default());
/// assert!(prompt.system.ends_with("ENCODING SYSTEM:\ndrop vowels"));
/// assert_eq!(prompt.messages[0].content, "hll wrld");
/// ```
pub fn render(profile: PromptProfile, input: RoleInput<'_>, nonce: Nonce) -> Prompt {
    let (system, user) = match profile {
        // A prompt of the user is the same in every set.
        _ if matches!(
            input,
            RoleInput::Semantic {
                prompt: Some(_),
                ..
            }
        ) =>
        {
            plain(input)
        }
        PromptProfile::Plain | PromptProfile::Own => plain(input),
        PromptProfile::Bands => bands(input),
        PromptProfile::Guarded => guarded(input, nonce),
    };
    let role = input.role();
    let judge = matches!(
        input,
        RoleInput::Semantic { prompt: None, .. } | RoleInput::Implementability { .. }
    );
    Prompt {
        sha256: sha256_hex(system.as_bytes()),
        system,
        messages: vec![PromptMessage::user(user)],
        max_tokens: match role {
            Role::Encoder | Role::Decoder => MAX_OUTPUT_TOKENS,
            Role::SemanticJudge | Role::ImplementabilityJudge | Role::OwnJudge => MAX_JUDGE_TOKENS,
            Role::Executor | Role::OwnProgram => MAX_EXECUTOR_TOKENS,
            Role::MeasureEncoder | Role::MeasureDecoder => MAX_MEASURE_TOKENS,
        },
        json_schema: (judge && profile == PromptProfile::Guarded).then(judge_schema),
    }
}

/// Replaced once: the same words inside of the rules stay.
fn with_rules(template: &str, rules: &str) -> String {
    template.replacen(RULES, rules, 1)
}

fn plain(input: RoleInput<'_>) -> (String, String) {
    let system = match input {
        RoleInput::Encode { rules, .. } => with_rules(ENCODER, rules),
        RoleInput::Decode { rules, .. } => with_rules(DECODER, rules),
        RoleInput::Semantic { prompt, .. } => prompt.unwrap_or(SEMANTIC_JUDGE).to_owned(),
        RoleInput::Implementability { .. } => IMPLEMENTABILITY_JUDGE.to_owned(),
        RoleInput::Execute { .. } => EXECUTOR.to_owned(),
        RoleInput::Own(prompt) => prompt.system.to_owned(),
    };
    (system, user_text(input))
}

fn bands(input: RoleInput<'_>) -> (String, String) {
    match input {
        RoleInput::Encode { rules, .. } => (
            with_rules(include_str!("bands_encoder.txt"), rules),
            user_text(input),
        ),
        RoleInput::Decode { rules, encoded } => (
            include_str!("bands_decoder.txt").to_owned(),
            format!("ENCODING SYSTEM:\n{rules}\n\nENCODED TEXT:\n{encoded}"),
        ),
        RoleInput::Semantic { .. } => (
            include_str!("bands_semantic_judge.txt").to_owned(),
            user_text(input),
        ),
        RoleInput::Implementability { .. } => (
            include_str!("bands_implementability_judge.txt").to_owned(),
            user_text(input),
        ),
        RoleInput::Execute { .. } | RoleInput::Own(_) => plain(input),
    }
}

fn guarded(input: RoleInput<'_>, nonce: Nonce) -> (String, String) {
    let pair = |first: (&str, &str), second: (&str, &str)| {
        format!(
            "{}\n\n{}",
            nonce.around(first.0, first.1),
            nonce.around(second.0, second.1)
        )
    };
    let (system, user) = match input {
        RoleInput::Encode { rules, text } => (
            include_str!("guarded_encoder.txt"),
            pair(("ENCODING SYSTEM", rules), ("TEXT", text)),
        ),
        RoleInput::Decode { rules, encoded } => (
            include_str!("guarded_decoder.txt"),
            pair(("ENCODING SYSTEM", rules), ("ENCODED TEXT", encoded)),
        ),
        RoleInput::Semantic {
            original, decoded, ..
        } => (
            include_str!("guarded_semantic_judge.txt"),
            pair(("ORIGINAL", original), ("DECODED", decoded)),
        ),
        RoleInput::Implementability { rules } => (
            include_str!("guarded_implementability_judge.txt"),
            nonce.around("ENCODING SYSTEM", rules),
        ),
        RoleInput::Execute { .. } | RoleInput::Own(_) => return plain(input),
    };
    (system.to_owned(), user)
}

/// The user's turn of the plain prompts.
fn user_text(input: RoleInput<'_>) -> String {
    match input {
        RoleInput::Encode { text, .. } => text.to_owned(),
        RoleInput::Decode { encoded, .. } => encoded.to_owned(),
        RoleInput::Semantic {
            original, decoded, ..
        } => {
            format!("ORIGINAL:\n{original}\n\nDECODED:\n{decoded}")
        }
        RoleInput::Implementability { rules } => rules.to_owned(),
        RoleInput::Execute { decoded } => decoded.to_owned(),
        RoleInput::Own(prompt) => prompt.user.to_owned(),
    }
}

/// The order of the keys is part of it: reasons first.
fn judge_schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "reasoning": { "type": "string" }, "score": { "type": "number" } },
        "required": ["reasoning", "score"],
        "additionalProperties": false
    })
}
