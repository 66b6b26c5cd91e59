//! The handling of a reply: every way in which it may end.

use llm_client::{Block, BlockKind, Message, Reply, StopReason};
use serde_json::{Value, json};

use super::{NextStep, Turn};
use crate::conversation::window::{self, WindowLimits};
use crate::conversation::{Author, Utterance, without_copies};
use crate::dispatch::calls;
use crate::prompt::kernel_words as asks;
use crate::{BrainReply, Face};

/// The number of pauses of replies in a turn.
const PAUSES: u32 = 5;

impl Turn<'_> {
    pub(super) async fn answered(&mut self, answer: &BrainReply) -> NextStep {
        self.rounds += 1;
        let reply = &answer.reply;
        let mut message = reply.to_message();
        without_copies(&mut message);
        window::cut_names(&mut message);
        window::distinct_ids(&mut message, self.messages.all());
        let calls = calls(&message);
        let searched = |block: &Block| matches!(block.kind, BlockKind::ServerToolResult { .. });
        if message.content.iter().any(searched) {
            self.facts.add_provider_search();
        }
        let text = reply.text();
        // In a boot only what stands beside the face, or ends it, is a greeting.
        let is_answer = !self.in_boot()
            || calls.is_empty()
            || calls.iter().any(|call| call.name == "recompile");
        let before = self.text.len();
        if is_answer {
            self.append_text(&text);
        }
        let has_calls = !calls.is_empty();
        let takes_any = self.settings.takes_any_reply;
        match &reply.stop {
            _ if takes_any && self.rounds == self.settings.rounds => NextStep::Done,
            StopReason::Refusal if !takes_any => {
                self.text.truncate(before);
                self.refused(reply, &answer.model)
            }
            stop if has_calls => {
                self.run_calls(message, *stop == StopReason::MaxTokens)
                    .await
            }
            StopReason::PauseTurn => self.paused(message),
            _ if takes_any => NextStep::Done,
            StopReason::ContentFilter => self.filtered(message),
            StopReason::ContextWindow => self.shrink(),
            StopReason::MaxTokens => self.cut_off(message, &text),
            stop => {
                if let StopReason::Other(other) = stop {
                    let other = self.context.files.gates().told(other);
                    self.events
                        .notice(format!("the reply ends for an unknown reason: {other}"));
                }
                self.ended(message, &text).await
            }
        }
    }

    /// Adds text to the answer. A continuation follows the text before it directly.
    fn append_text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.goes_on && !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.goes_on = false;
        self.text.push_str(text);
    }

    fn paused(&mut self, message: Message) -> NextStep {
        self.goes_on = true;
        // The content goes back as it came.
        let said = self.model_says(message);
        self.messages.push(said);
        if self.settings.takes_any_reply {
            return NextStep::Ask;
        }
        self.rounds -= 1;
        if self.pauses == PAUSES {
            return self.limit(format!("stopped after {PAUSES} pauses of the provider"));
        }
        self.pauses += 1;
        NextStep::Ask
    }

    fn refused(&mut self, reply: &Reply, model: &str) -> NextStep {
        let details = reply
            .stop_details
            .as_ref()
            .and_then(|raw| raw.to::<Value>().ok());
        let category = details
            .as_ref()
            .and_then(|details| details["category"].as_str())
            .map(|category| format!(" ({category})"))
            .unwrap_or_default();
        let line = format!("{model} declines to answer this{category}");
        self.events.notice(&line);
        let chain = &self.context.config.settings.models;
        let is_last = chain.last().is_none_or(|last| last.id == model);
        if self.context.config.settings.fallback_on_refusal && !is_last {
            self.after = Some(model.to_owned());
            return NextStep::Ask;
        }
        if self.text.trim().is_empty() {
            self.text.clone_from(&line);
        }
        let line_said = Message::assistant(format!("[{line}.]"));
        self.messages
            .push(Utterance::new(Author::Kernel, line_said));
        self.limit(line)
    }

    /// The provider ended the reply; the received part is kept.
    fn filtered(&mut self, message: Message) -> NextStep {
        self.push_said(message);
        self.limit("the provider's content filter stopped the answer")
    }

    /// The context window is full: with a quarter of what was shown it may do.
    fn shrink(&mut self) -> NextStep {
        self.rounds -= 1;
        if self.shrunk {
            return self.limit(
                "stopped: the model's context window is full; begin with a shorter message",
            );
        }
        self.shrunk = true;
        self.limits = WindowLimits {
            messages: self.limits.messages / 4,
            tokens: self.limits.tokens / 4,
        };
        NextStep::Ask
    }

    /// The reply is as long as allowed.
    fn cut_off(&mut self, message: Message, text: &str) -> NextStep {
        let unclosed = text.matches("```").count() % 2 == 1;
        let ask = if text.trim().is_empty() {
            asks::ANSWER
        } else if unclosed {
            asks::SMALLER
        } else {
            asks::GO_ON
        };
        self.push_said(message);
        if self.continued {
            return self.limit("the answer was cut off at the token limit twice");
        }
        self.continued = true;
        self.goes_on = true;
        self.messages.push(Utterance::kernel(ask));
        self.store();
        NextStep::Ask
    }

    /// The model is done, or says so.
    async fn ended(&mut self, message: Message, text: &str) -> NextStep {
        let silent = text.trim().is_empty();
        self.push_said(message);
        if !self.in_boot() {
            if silent && !self.facts.used.is_empty() && !self.closing {
                self.closing = true;
                self.tools_off = true;
                self.messages.push(Utterance::kernel(asks::SENTENCE));
                return NextStep::Ask;
            }
            if silent && self.closing {
                self.append_text(&format!("done: {}", self.facts.used.join(", ")));
            }
            self.store();
            if silent && self.facts.used.is_empty() {
                self.events.notice("the model answered nothing");
                return self.limit("the model answered nothing; say it in another way");
            }
            return NextStep::Done;
        }
        self.booted_in_words(text).await
    }

    /// A boot ends in words: in a terminal they are the greeting, for a page there may be a component in them.
    async fn booted_in_words(&mut self, text: &str) -> NextStep {
        self.store();
        if self.context.config.face == Face::Terminal {
            return NextStep::Done;
        }
        if text.contains("```") {
            let outcome = self.call_tool("recompile", json!({ "jsx": text })).await;
            if !outcome.is_error {
                self.text = outside_fences(text);
                return NextStep::Done;
            }
            if self.facts.failed > self.settings.repairs {
                self.safe_face = Some(std::mem::take(&mut self.facts.errors));
                return self.limit("no shell compiled: the safe face is shown");
            }
            let (repair, fault) = (asks::REPAIR, outcome.text());
            let ask = format!("{repair}{fault}. Answer with one fenced jsx component.]");
            // The fault has words of the shell.
            self.messages
                .push(Utterance::kernel(ask).with_from(outcome.from));
            return NextStep::Ask;
        }
        if self.closing {
            self.safe_face = Some(Vec::new());
            return self.limit("the model wrote no face: the safe face is shown");
        }
        self.closing = true;
        self.tools_off = true;
        self.messages.push(Utterance::kernel(asks::COMPONENT));
        NextStep::Ask
    }

    /// Adds a reply that says something: thoughts alone are not a message.
    fn push_said(&mut self, message: Message) {
        let says = |block: &Block| match &block.kind {
            BlockKind::Text { text } => !text.trim().is_empty(),
            BlockKind::Thinking { .. } | BlockKind::RedactedThinking => false,
            _ => true,
        };
        if message.content.iter().any(says) {
            let said = self.model_says(message);
            self.messages.push(said);
        }
    }
}

/// A reply without its code.
fn outside_fences(text: &str) -> String {
    let parts = text.split("```").step_by(2).map(str::trim);
    let words: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    words.join("\n")
}
