//! One call to one role, read.

use super::stage::{Stage, StageFailure};
use crate::judge::score::{MAX_IMPLEMENTABILITY, MAX_SEMANTIC};
use crate::judge::{JudgeReply, JudgeStatus, parse_judge_reply};
use crate::model::{CallTally, ModelReply, ModelRequest};
use crate::plan::RoleConfig;
use crate::prompts::{ASK_AGAIN, MAX_MEASURE_TOKENS, PromptMessage, Role, RoleInput};
use crate::text::{js_trim, preview};
use crate::{ModelClient, StageStatus};
use llm_types::StopReason;

/// A text that the encoder or the decoder wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedText {
    /// The text, as it came or, from the decoder, trimmed.
    pub text: String,
}

/// The verdict of a judge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgeScore {
    pub status: JudgeStatus,
    pub score: u8,
    pub reasoning: String,
    pub clamped: bool,
    /// The number as the judge gave it.
    pub given: Option<f64>,
}

/// A judge's verdict and its last reply as it came.
pub(crate) struct JudgeCall {
    pub stage: Stage<JudgeScore>,
    /// `None` if the judge did not reply.
    pub reply: Option<String>,
}

/// Lets the encoder shorten `text`. The reply is kept as it is.
pub async fn encode(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    rules: &str,
    text: &str,
) -> Stage<EncodedText> {
    written(client, cfg, RoleInput::Encode { rules, text }).await
}

/// Lets a fresh decoder, who never saw the original, write the text again. The reply is trimmed.
pub async fn decode(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    rules: &str,
    encoded: &str,
) -> Stage<EncodedText> {
    let mut stage = written(client, cfg, RoleInput::Decode { rules, encoded }).await;
    if let Ok(decoded) = &mut stage.value {
        decoded.text = js_trim(&decoded.text).to_owned();
    }
    stage
}

/// Lets a fresh agent carry out the decoded text, of which it sees nothing else. The reply is trimmed.
pub async fn execute(client: &dyn ModelClient, cfg: &RoleConfig, decoded: &str) -> Stage<String> {
    let Stage { value, tally } = written(client, cfg, RoleInput::Execute { decoded }).await;
    Stage {
        value: value.map(|written| js_trim(&written.text).to_owned()),
        tally,
    }
}

/// Measures what the prompt of `input` has beyond its text, which must be one token: the tokens of the whole prompt as the reply reports
/// them. `None` if no reply came, or one that does not report.
pub(crate) async fn measure(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    input: RoleInput<'_>,
) -> Stage<Option<u64>> {
    let mut tally = CallTally::default();
    let mut request = cfg.request(input);
    request.prompt.max_tokens = MAX_MEASURE_TOKENS;
    request.role = match request.role {
        Role::Encoder => Role::MeasureEncoder,
        _ => Role::MeasureDecoder,
    };
    let usage = match client.complete(request).await {
        Ok(reply) => {
            tally.add_reply(&reply);
            reply.usage
        }
        Err(error) => {
            tally.add_call(&error.call, false);
            None
        }
    };
    Stage {
        value: Ok(usage.map(|usage| usage.input)),
        tally,
    }
}

/// Lets a judge say how much of the meaning is kept, 0 to 40. A reply without a score is asked for once more.
pub async fn judge_semantic(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    original: &str,
    decoded: &str,
) -> Stage<JudgeReply> {
    let input = RoleInput::Semantic {
        original,
        decoded,
        prompt: None,
    };
    judge(client, cfg, input).await.stage.into_reply()
}

/// Lets a judge say how simple the rules are, 0 to 5. A reply without a score is asked for once more.
pub async fn judge_implementability(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    rules: &str,
) -> Stage<JudgeReply> {
    judge(client, cfg, RoleInput::Implementability { rules })
        .await
        .stage
        .into_reply()
}

impl Stage<JudgeScore> {
    fn into_reply(self) -> Stage<JudgeReply> {
        Stage {
            value: self.value.map(|verdict| JudgeReply {
                status: verdict.status,
                score: Some(verdict.score),
                reasoning: verdict.reasoning,
                clamped: verdict.clamped,
                given: verdict.given,
            }),
            tally: self.tally,
        }
    }
}

/// The most points that a judge can give.
pub(super) fn max_points(input: &RoleInput<'_>) -> u8 {
    match input {
        RoleInput::Own(prompt) => prompt.max_points,
        RoleInput::Implementability { .. } => MAX_IMPLEMENTABILITY,
        _ => MAX_SEMANTIC,
    }
}

/// Asks a judge, and once more if no score can be read; all of it again as often as `cfg` says.
pub(crate) async fn judge(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    input: RoleInput<'_>,
) -> JudgeCall {
    let max = max_points(&input);
    let mut tally = CallTally::default();
    let mut reply = None;
    let mut retry = 0;
    let value = loop {
        let asks = 2 * retry;
        let value = judged(client, cfg, input, max, asks, &mut tally, &mut reply).await;
        match value {
            Err(failure) if retry < cfg.judge_retries && failure.is_of_a_reply() => retry += 1,
            ended => break ended,
        }
    };
    JudgeCall {
        stage: Stage { value, tally },
        reply,
    }
}

async fn judged(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    input: RoleInput<'_>,
    max: u8,
    asks: u32,
    tally: &mut CallTally,
    said: &mut Option<String>,
) -> Result<JudgeScore, StageFailure> {
    let mut request = cfg.request(input);
    let inputs = request.inputs.clone();
    let texts = inputs.texts.iter().chain([&inputs.rules]);
    let judged: Vec<&str> = texts.map(String::as_str).collect();
    request.repeat.ask = Some(asks + 1);
    let reply = ask(client, request.clone(), tally).await?;
    *said = Some(reply.text.clone());
    if let Some(verdict) = JudgeScore::of(&reply, max, &judged) {
        return Ok(verdict);
    }
    if !is_blank(&reply.text) {
        let turns = [
            PromptMessage::assistant(reply.text),
            PromptMessage::user(ASK_AGAIN),
        ];
        request.prompt.messages.extend(turns);
    }
    request.repeat.ask = Some(asks + 2);
    let reply = ask(client, request, tally).await?;
    *said = Some(reply.text.clone());
    if let Some(verdict) = JudgeScore::of(&reply, max, &judged) {
        return Ok(verdict);
    }
    finished(&reply)?;
    let shown = preview(&reply.text);
    let detail = format!("no score can be read in the judge's second reply: {shown:?}");
    Err(StageFailure::new(StageStatus::Unparseable, detail))
}

impl JudgeScore {
    /// Reads a reply. A reply that was cut counts only if it begins with its object: else the verdict may be missing.
    fn of(reply: &ModelReply, max: u8, judged: &[&str]) -> Option<Self> {
        let verdict = Self::read(&reply.text, max, judged)?;
        let begins = js_trim(&reply.text).starts_with(['{', '`']);
        (begins || finished(reply).is_ok()).then_some(verdict)
    }

    fn read(text: &str, max: u8, judged: &[&str]) -> Option<Self> {
        let reply = parse_judge_reply(text, max, judged);
        Some(Self {
            status: reply.status,
            score: reply.score?,
            reasoning: reply.reasoning,
            clamped: reply.clamped,
            given: reply.given,
        })
    }
}

/// A reply that must be a text.
async fn written(
    client: &dyn ModelClient,
    cfg: &RoleConfig,
    input: RoleInput<'_>,
) -> Stage<EncodedText> {
    let mut tally = CallTally::default();
    let request = cfg.request(input);
    let value = match ask(client, request, &mut tally).await {
        Ok(reply) => finished(&reply).map(|()| EncodedText { text: reply.text }),
        Err(failure) => Err(failure),
    };
    Stage { value, tally }
}

/// A refusal ends every stage; what else a reply may be is the role's to say.
async fn ask(
    client: &dyn ModelClient,
    request: ModelRequest,
    tally: &mut CallTally,
) -> Result<ModelReply, StageFailure> {
    match client.complete(request).await {
        Ok(reply) => {
            tally.add_reply(&reply);
            match reply.stop {
                StopReason::Refusal | StopReason::ContentFilter => {
                    let why = if reply.stop == StopReason::Refusal {
                        "the model refused"
                    } else {
                        "a content filter cut the reply"
                    };
                    let said = preview(&reply.text);
                    let detail = if said.is_empty() {
                        why.to_owned()
                    } else {
                        format!("{why}: {said:?}")
                    };
                    Err(StageFailure::new(StageStatus::Refused, detail))
                }
                _ => Ok(reply),
            }
        }
        Err(error) => {
            tally.add_call(&error.call, false);
            Err(error.into())
        }
    }
}

/// Whether a reply is whole and says something.
fn finished(reply: &ModelReply) -> Result<(), StageFailure> {
    let (status, detail) = match reply.stop {
        StopReason::MaxTokens => (
            StageStatus::Truncated,
            "the reply reached its limit of tokens",
        ),
        StopReason::ContextWindow => (StageStatus::Truncated, "the context window is full"),
        _ if is_blank(&reply.text) => (StageStatus::Empty, "the reply holds no text"),
        _ => return Ok(()),
    };
    Err(StageFailure::new(status, detail))
}

fn is_blank(text: &str) -> bool {
    js_trim(text).is_empty()
}
