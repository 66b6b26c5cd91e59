//! The error of an event that does not follow from those before it.

use crate::config::SettingsError;
use crate::pool::{MessageId, MindId, PoolError};

/// The error of an event that does not follow from those before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The pool refuses a message.
    #[error("a message cannot be in the pool")]
    Pool(#[from] PoolError),
    /// The event is not the expected one.
    #[error("{found} where {expected} should be")]
    Order {
        /// The expected event.
        expected: String,
        /// The type of the event.
        found: &'static str,
    },
    /// The ids of an event are not those of its messages.
    #[error("added_ids {found:?} of messages that have the ids {expected:?}")]
    Ids {
        /// The ids of the messages.
        expected: Vec<MessageId>,
        /// The ids in the event.
        found: Vec<MessageId>,
    },
    /// A message was read before it was sent.
    #[error("sampled_ids contains {id}, which had not been sent yet")]
    Sampled {
        /// The id of the message.
        id: MessageId,
    },
    /// A message that is taken out of the active pool is not there.
    #[error("message {id} cannot be read, so it cannot be taken out")]
    NotActive {
        /// The id of the message.
        id: MessageId,
    },
    /// The change of a setting lacks the form of requests with it, or has one although no request has the setting.
    #[error(
        "the change of {setting} does not have the request template that it needs, or has one that it does not need"
    )]
    Template {
        /// The setting.
        setting: String,
    },
    /// A run has no mind at a position.
    #[error("the run has no mind {position}")]
    Position {
        /// The position.
        position: MindId,
    },
    /// A resumed run changes a setting that cannot change.
    #[error(transparent)]
    Setting(#[from] SettingsError),
}
