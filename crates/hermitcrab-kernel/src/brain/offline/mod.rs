//! The brain that is a script.

use async_trait::async_trait;
use llm_client::{Block, Reply, ReplySource, StopReason};
use tokio_util::sync::CancellationToken;

use super::{Brain, BrainError, BrainInfo, BrainReply, BrainRequest};
use crate::EventSink;

/// A script that asks nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineBrain;

impl OfflineBrain {
    /// The script.
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Brain for OfflineBrain {
    fn info(&self) -> BrainInfo {
        BrainInfo {
            provider: "offline".to_owned(),
            model: "offline".to_owned(),
            fast: "offline".to_owned(),
            offline: Some("script".to_owned()),
        }
    }

    async fn complete(
        &self,
        _: BrainRequest,
        _: EventSink,
        _: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let words = Block::text("I am a script.");
        let mut reply = Reply::new("offline", vec![words], StopReason::EndTurn);
        reply.source = ReplySource::Offline("script".to_owned());
        Ok(BrainReply {
            reply,
            model: "offline".to_owned(),
        })
    }
}
