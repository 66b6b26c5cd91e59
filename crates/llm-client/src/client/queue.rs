//! The queue of calls that wait for a batch.

use llm_types::{Reply, Request};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use crate::Error;

/// The way of a reply to its call.
pub(crate) type ReplySender = oneshot::Sender<Result<Reply, Error>>;
pub(crate) type CallQueue = Sender<QueuedCall>;

/// A call that waits for a batch.
pub(crate) struct QueuedCall {
    pub request: Request,
    /// The hash of the request.
    pub root: String,
    pub reply: ReplySender,
}
