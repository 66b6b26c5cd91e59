//! The stub's answers to calls.

use serde_json::{Value, json};

use super::role::{handed, text};
use super::{CompressionState, CompressionStub, StubMode, StubRole, toy};
use crate::{Answer, CannedReply};

/// The wait that a busy server asks for, in milliseconds. Without it llm-client retries a 429 only once.
const WISH: &str = "20";

impl CompressionState {
    /// The answer and its status; 0 for none.
    pub(super) fn reply(&mut self, role: StubRole, body: &Value) -> (u16, Answer) {
        let fault = if role == StubRole::Count {
            count_fault(self.mode)
        } else {
            self.message_fault(role, body)
        };
        if let Some(fault) = fault {
            return fault;
        }
        if role == StubRole::Count {
            let counted = json!({"input_tokens": tokens_of(body)});
            return (200, Answer::json(200, counted.to_string()));
        }
        let mut reply = self.message(role, body);
        if self.mode == StubMode::BadJson {
            reply.truncate(reply.len() / 2);
        }
        (200, Answer::json(200, reply))
    }

    /// The message of the role, as JSON.
    pub(super) fn message(&mut self, role: StubRole, body: &Value) -> String {
        let mut canned = self.said(role, body);
        canned.input = tokens_of(body);
        canned.output = toy::tokens(&canned.text);
        canned.id = format!("msg_{}", self.calls.len() + 1);
        body["model"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut canned.model);
        canned.anthropic_json()
    }

    fn message_fault(&mut self, role: StubRole, body: &Value) -> Option<(u16, Answer)> {
        if role == StubRole::Unknown {
            return Some(error(400, "invalid_request_error", "whose prompt is this?"));
        }
        let mode = self.mode;
        let once = matches!(
            mode,
            StubMode::E429Once | StubMode::E500Once | StubMode::DropOnce
        );
        if once && !self.struck.insert(role) {
            return None;
        }
        let last = body["messages"].as_array().and_then(|all| all.last());
        let prefilled = last.is_some_and(|turn| turn["role"] == "assistant");
        let fault = match mode {
            StubMode::E400Prefill if prefilled => error(
                400,
                "invalid_request_error",
                "the conversation must end with a user message",
            ),
            StubMode::E401 => denied(),
            StubMode::E429Once | StubMode::E429Always => {
                let (status, answer) = error(429, "rate_limit_error", "slow down");
                (status, answer.header("retry-after-ms", WISH))
            }
            StubMode::E529Always => {
                let (status, answer) = error(529, "overloaded_error", "overloaded");
                (status, answer.header("retry-after-ms", WISH))
            }
            StubMode::E500Once => error(500, "api_error", "internal server error"),
            StubMode::DropOnce => (0, Answer::raw().close()),
            StubMode::Error200 => (200, error(200, "overloaded_error", "overloaded").1),
            StubMode::Html => {
                let page = "<!doctype html><title>Gateway</title><p>Sign in";
                (200, Answer::whole(200, "text/html", page))
            }
            StubMode::Quota => error(402, "billing_error", "your credit balance is too low"),
            StubMode::NoModel => {
                let model = body["model"].as_str().unwrap_or_default();
                error(404, "not_found_error", &format!("model: {model}"))
            }
            _ => return None,
        };
        Some(fault)
    }

    /// The text of the role in this mode.
    fn said(&mut self, role: StubRole, body: &Value) -> CannedReply {
        let user = text(&body["messages"][0]["content"]);
        let mode = self.mode;
        let refused = CannedReply::text("").stopped("refusal", "content_filter");
        let said = match role {
            StubRole::Encoder => {
                let original = handed(role, &user);
                if mode == StubMode::RefusalEncode || original.contains(CompressionStub::REFUSED) {
                    return refused;
                }
                let encoded = toy::encoded(original);
                self.originals.insert(encoded.clone(), original.to_owned());
                encoded
            }
            StubRole::Decoder => {
                let encoded = handed(role, &user);
                match mode {
                    StubMode::RefusalDecode => return refused,
                    StubMode::EmptyDecode => String::new(),
                    _ => {
                        let original = self.originals.get(encoded);
                        original.map_or(encoded, String::as_str).to_owned()
                    }
                }
            }
            StubRole::Executor if user.contains("Compression reveals essence") => {
                "U:essence reveals Compression".to_owned()
            }
            StubRole::Executor => "nothing to carry out".to_owned(),
            _ if body["model"] == CompressionStub::MUTE && mode != StubMode::Fenced => {
                judged(StubMode::NoJson, role)
            }
            _ => judged(mode, role),
        };
        if mode == StubMode::MaxTokens {
            let half = said.chars().take(said.chars().count() / 2);
            return CannedReply::text(half.collect::<String>()).stopped("max_tokens", "length");
        }
        CannedReply::text(said)
    }
}

fn judged(mode: StubMode, role: StubRole) -> String {
    debug_assert!(role.is_judge());
    let score = if role == StubRole::SemanticJudge {
        38
    } else {
        4
    };
    let object = json!({"score": score, "reasoning": format!("{} by rule", role.as_str())});
    match mode {
        StubMode::Fenced => format!("```json\n{object}\n```"),
        StubMode::FencedUpper => format!("```JSON\n{object}\n```"),
        StubMode::Prose => format!("On the 0-40 scale I would give it this: {object}"),
        StubMode::NoJson => "I think it is rather good.".to_owned(),
        StubMode::NoScore => json!({"reasoning": "rather good"}).to_string(),
        _ => object.to_string(),
    }
}

fn count_fault(mode: StubMode) -> Option<(u16, Answer)> {
    match mode {
        StubMode::Count404 => Some(error(404, "not_found_error", "no such route")),
        StubMode::E401 => Some(denied()),
        _ => None,
    }
}

fn denied() -> (u16, Answer) {
    error(401, "authentication_error", "invalid x-api-key")
}

fn error(status: u16, kind: &str, message: &str) -> (u16, Answer) {
    let body = CannedReply::anthropic_error(kind, message);
    (status, Answer::json(status, body))
}

/// The tokens of the system prompt and all turns.
fn tokens_of(body: &Value) -> u64 {
    let turns = body["messages"].as_array();
    let contents = turns.into_iter().flatten().map(|turn| &turn["content"]);
    let texts = contents.chain([&body["system"]]).map(text);
    toy::WRAPPER + texts.map(|text| toy::tokens(&text)).sum::<u64>()
}
