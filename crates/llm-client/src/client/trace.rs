//! The names of traces and the messages of their events. Neither contains text of a prompt or a reply.

use std::time::Duration;

use llm_types::{CostSource, Count, Reply, Target, Warning};
use tracing::field::Empty;
use tracing::{Span, debug, debug_span, warn};

use crate::embed::EmbedReply;
use crate::{Error, ErrorClass, ErrorKind};

/// The span of a call. Its name on an `OpenTelemetry` backend is `chat {model}`, `count_tokens {model}` or
/// `embeddings {model}`.
pub(crate) fn span(operation: &str, target: &Target, max_tokens: Option<u32>) -> Span {
    debug_span!(
        target: "llm_client",
        "chat",
        otel.name = format!("{operation} {}", target.model),
        gen_ai.operation.name = operation,
        gen_ai.provider.name = target.provider,
        gen_ai.request.model = target.model,
        gen_ai.request.max_tokens = max_tokens,
        gen_ai.response.model = Empty,
        gen_ai.response.id = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        llm.attempt = Empty,
        llm.wait_ms = Empty,
        llm.cost_nano_usd = Empty,
        llm.source = Empty,
        error.type = Empty,
    )
}

/// Adds the reply to the span.
pub(crate) fn answered(span: &Span, reply: &Reply) {
    if span.is_disabled() {
        return;
    }
    span.record("gen_ai.response.model", &reply.model);
    span.record("gen_ai.response.id", &reply.id);
    span.record("gen_ai.response.finish_reasons", reply.stop.as_str());
    span.record("gen_ai.usage.input_tokens", reply.usage.prompt());
    span.record("gen_ai.usage.output_tokens", reply.usage.output);
    span.record("llm.attempt", reply.attempts.len());
    let waited: Duration = reply.attempts.iter().map(|attempt| attempt.wait).sum();
    span.record("llm.wait_ms", waited.as_millis() as u64);
    if let (Some(usd), false) = (reply.cost.usd, reply.cost.from == CostSource::Unknown) {
        span.record("llm.cost_nano_usd", usd.0);
    }
    span.record("llm.source", reply.source.as_str());
}

/// Adds the vectors to the span.
pub(crate) fn embedded(span: &Span, reply: &EmbedReply) {
    span.record("gen_ai.response.model", &reply.model);
    span.record("gen_ai.usage.input_tokens", reply.usage.prompt());
    span.record("llm.attempt", reply.attempts.len());
    if let (Some(usd), false) = (reply.cost.usd, reply.cost.from == CostSource::Unknown) {
        span.record("llm.cost_nano_usd", usd.0);
    }
    span.record("llm.source", reply.source.as_str());
}

/// Adds the count to the span.
pub(crate) fn counted(span: &Span, count: &Count) {
    span.record("gen_ai.usage.input_tokens", count.tokens);
}

/// Adds the error to the span of a failed call.
pub(crate) fn failed(span: &Span, error: &Error) {
    span.record("error.type", error.class().as_str());
    span.record("llm.attempt", error.attempts().len());
}

/// Logs that an attempt failed and number `next` of at most `most` follows after `wait`.
pub(crate) fn retry(target: &Target, error: &Error, wait: Duration, next: u32, most: u32) {
    warn!(
        target: "llm_client",
        {
            gen_ai.provider.name = target.provider,
            gen_ai.request.model = target.model,
            error.type = error.class().as_str(),
            llm.wait_ms = wait.as_millis() as u64
        },
        "retrying in {} ms ({next} of {most}): {}",
        wait.as_millis(),
        reason(error)
    );
}

/// The error without text of a reply.
fn reason(error: &Error) -> String {
    if let ErrorKind::Connect { .. } | ErrorKind::Timeout { .. } = error.kind() {
        return error.message();
    }
    let words = match error.class() {
        ErrorClass::Server => "server error".to_owned(),
        ErrorClass::RateLimit => "rate limited".to_owned(),
        ErrorClass::BadResponse => "the reply cannot be used".to_owned(),
        class => class.as_str().replace('_', " "),
    };
    match error.status() {
        Some(status) => format!("HTTP {status}, {words}"),
        None => words,
    }
}

/// Logs that the request was changed.
pub(crate) fn warning(warning: &Warning) {
    debug!(
        target: "llm_client",
        {
            llm.field = warning.field,
            llm.change = warning.message
        },
        "request adapted: {}: {}",
        warning.field,
        warning.message
    );
}
