//! The client without a model: a program follows the rules, and text metrics replace the judge of meaning.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use crate::model::{
    CallFacts, CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, PromptInputs,
    TokenCount,
};
use crate::prompts::Role;
use crate::rules::codec::{LexicalVerdict, RuleCodec, lexical_semantic, rule_implementability};
use crate::text::Lexicon;
use crate::{FailureKind, ModelClient};
use llm_types::StopReason;

/// A client that answers for encoder, decoder and judges without a model, and refuses the other roles. The same request always has the same answer.
///
/// The client receives the input of a model. The decoder has the rules, the encoding and a list of English words, never the text.
/// Rules must be in the written syntax ([`SYNTAX`](crate::rules::SYNTAX)). Others fail with the kind `unsupported_offline` and the
/// lines that need a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a model without settings")]
pub struct OfflineModel;

impl OfflineModel {
    /// The name of the model and the provider in results.
    pub const NAME: &str = "offline";

    fn answer(request: &ModelRequest) -> Result<String, ModelError> {
        let PromptInputs { rules, texts } = &request.inputs;
        match (request.role, texts.as_slice()) {
            (Role::Encoder, [text]) => Ok(codec(rules)?.encode(text)),
            (Role::Decoder, [encoded]) => {
                Ok(codec(rules)?.decode(encoded, Lexicon::english()).text)
            }
            (Role::SemanticJudge, [original, decoded]) => {
                Ok(verdict(&lexical_semantic(original, decoded)))
            }
            (Role::ImplementabilityJudge, _) => Ok(verdict(&rule_implementability(rules))),
            _ => Err(unsupported("this role has no offline form".to_owned())),
        }
    }
}

/// Returns the codec of rules that a program can follow.
fn codec(rules: &str) -> Result<RuleCodec, ModelError> {
    let (codec, findings) = RuleCodec::parse(rules);
    if codec.is_mechanical() {
        return Ok(codec);
    }
    let lines: Vec<_> = (findings.iter())
        .map(|finding| format!("line {}: {:?}", finding.line, finding.evidence))
        .collect();
    Err(unsupported(format!(
        "these rules need a model, because not every line is in the rule syntax: {}",
        lines.join("; ")
    )))
}

/// Returns the points as the reply of a judge.
fn verdict(verdict: &LexicalVerdict) -> String {
    serde_json::json!({ "score": verdict.score, "reasoning": verdict.reasoning }).to_string()
}

fn unsupported(message: String) -> ModelError {
    ModelError::unsent(FailureKind::UnsupportedOffline, message)
}

impl ModelClient for OfflineModel {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        let reply = Self::answer(&request).map(|text| ModelReply {
            text,
            stop: StopReason::EndTurn,
            usage: None,
            cost: None,
            call: CallFacts::default(),
        });
        ready(reply).boxed()
    }

    fn count_tokens(&self, _: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        // The pipeline then estimates the count, with the source `local`.
        ready(Err(unsupported(
            "offline runs have no exact count".to_owned(),
        )))
        .boxed()
    }

    fn label(&self) -> ModelLabel {
        ModelLabel {
            provider: Self::NAME.to_owned(),
            host: String::new(),
            offline: true,
        }
    }
}
