//! The calls that follow from the state of a run, and their events.

use super::run_state::RunState;
use crate::config::{ForgedSignaturePolicy, Scheduling};
use crate::format::{Reason, format_prompt, parse_in_run, sha256_hex};
use crate::journal::{AttemptFacts, MindInvocation, MindReply, ParseFacts, dollars};
use crate::mind::MindInput;
use crate::pool::{MessageId, MindId, Round, sample_rng};

/// A call before it is made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallPlan {
    /// The round, from 1.
    pub round: Round,
    /// The mind, from 0.
    pub mind: MindId,
    /// The ids of the messages to read, in the order of the prompt.
    pub sampled: Vec<MessageId>,
    /// The texts of these messages.
    pub texts: Vec<String>,
    /// The input of the mind.
    pub input: MindInput,
    /// SHA-256 of the whole prompt.
    pub prompt_sha256: String,
    /// The request's body.
    pub body: Vec<u8>,
    /// The SHA-256 of the request's body.
    pub request_sha256: String,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// An answer.
    Reply(MindReply),
    /// A failure, with its attempts.
    Failed(Vec<AttemptFacts>),
}

impl RunState {
    /// Returns the next call of a mind in the open round: its sample and its request.
    pub fn plan(&self, mind: MindId) -> CallPlan {
        let settings = &self.settings;
        let mut rng = sample_rng(settings.seed, self.round, mind);
        let sampled = match (&self.open, settings.scheduling) {
            (Some(open), Scheduling::Snapshot) => open.view.sample(settings.k_samples, &mut rng),
            _ => self.pool.sample(settings.k_samples, &mut rng),
        };
        let texts: Vec<String> = (sampled.iter())
            .filter_map(|id| self.pool.text(*id).map(str::to_owned))
            .collect();
        let prompt = format_prompt(&self.system, texts.iter().map(String::as_str));
        let body = self.template_of(mind).fill(prompt.user());
        CallPlan {
            round: self.round,
            mind,
            sampled,
            texts,
            prompt_sha256: prompt.sha256(),
            request_sha256: sha256_hex(&body),
            body,
            input: MindInput::new(prompt, self.model_of(mind).clone()),
        }
    }

    /// Returns the event of a call.
    pub fn invocation(
        &self,
        planned: CallPlan,
        outcome: Outcome,
        latency_ms: u64,
    ) -> MindInvocation {
        let settings = &self.settings;
        let failed = matches!(outcome, Outcome::Failed(_));
        let reply = match outcome {
            Outcome::Reply(reply) => reply,
            Outcome::Failed(attempts) => MindReply {
                attempts,
                ..MindReply::default()
            },
        };
        let rules = self.rules;
        let (mode, signature) = (settings.parse_mode, &settings.init_signature);
        let mut parsed = parse_in_run(&reply.text, mode, signature, rules);
        if matches!(
            reply.finish_reason.as_deref(),
            Some("max_tokens" | "context_window")
        ) {
            parsed = parsed.truncated();
        }
        if settings.impersonation == ForgedSignaturePolicy::Discard
            && parsed.signature == settings.init_signature
        {
            parsed = parsed.discard_impersonation();
        }
        let over_cap = settings.message_cap(rules).apply(&mut parsed);
        if failed {
            parsed.reason = Reason::CallFailed;
        }
        let mut attempts = reply.attempts;
        if !rules.records_finish {
            for attempt in &mut attempts {
                attempt.notes.clear();
            }
        }
        let first = self.pool.len();
        let added_ids = (first..)
            .map(MessageId)
            .take(parsed.messages.len())
            .collect();
        let echoed_ids = (planned.sampled.iter().zip(&planned.texts))
            .filter(|(_, text)| parsed.messages.contains(text))
            .map(|(id, _)| *id)
            .collect();
        MindInvocation {
            round: planned.round,
            mind_id: planned.mind,
            input_messages: planned.texts,
            thinking: parsed.thinking,
            transmitted: parsed.messages,
            completed: parsed.completed,
            signature: parsed.signature,
            tokens_used: reply.tokens.completion,
            raw_output: reply.text,
            sampled_ids: planned.sampled,
            added_ids,
            echoed_ids,
            parse: ParseFacts {
                mode: settings.parse_mode,
                end: parsed.end,
                reason: parsed.reason,
                notes: parsed.notes,
                lost_blocks: parsed.lost_blocks,
                lost_chars: parsed.lost_chars,
                over_cap,
            },
            prompt_sha256: planned.prompt_sha256,
            request_sha256: planned.request_sha256,
            model_asked: self.model_of(planned.mind).model.clone(),
            model_answered: reply.model,
            finish_reason: reply.finish_reason,
            finish_raw: rules.records_finish.then_some(reply.finish_raw),
            tokens: reply.tokens,
            cost_usd: reply.cost.map(dollars),
            latency_ms,
            attempts,
        }
    }
}
