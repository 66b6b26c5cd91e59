//! Asks the next target when one fails.

use crate::types::{Block, BlockKind, Message, Origin, Request, Target};
use crate::{Error, FallbackOn};

/// Whether this failure moves a call on to the next target.
pub(crate) fn moves_on(error: &Error, on: FallbackOn) -> bool {
    match error {
        Error::Overloaded { .. } => on.overloaded,
        Error::RateLimited { .. } | Error::RetryAfterTooLong { .. } => on.rate_limited,
        Error::Connect { .. } => on.connect,
        Error::Timeout { .. } => on.timeout,
        Error::Api { status, quota, .. } => {
            (*status >= 500 && on.server) || (*quota && on.rate_limited)
        }
        Error::ModelUnavailable { .. } => on.model_unavailable,
        _ => false,
    }
}

/// `request` for `target`: thoughts go back only to the model that had them, and fields of reasoning only to the
/// server they came from.
pub(crate) fn retarget(request: &mut Request, target: &Target) {
    request.model.clone_from(&target.model);
    for message in &mut request.messages {
        strip_foreign(message, target);
    }
}

fn strip_foreign(message: &mut Message, target: &Target) {
    let foreign = |origin: &Option<Origin>| {
        origin.as_ref().is_some_and(|origin| {
            origin.provider != target.provider || origin.model != target.model
        })
    };
    let stays = |block: &Block| {
        !matches!(
            block.kind,
            BlockKind::Thinking { .. } | BlockKind::RedactedThinking
        ) || !foreign(&block.origin)
    };
    if message.content.iter().any(|block| foreign(&block.origin)) {
        // The assistant object as it came may hold reasoning in fields that we do not know by name.
        message.raw = None;
    }
    let before = message.content.len();
    message.content.retain(stays);
    if message.content.is_empty() && before > 0 {
        message.content.push(Block::text("(no content)"));
    }
}
