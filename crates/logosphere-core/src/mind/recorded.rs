//! A mind that answers the calls of a journal as they were answered.

use std::collections::HashMap;
use std::io::BufRead;

use async_trait::async_trait;

use super::Mind;
use super::call::{CallContext, MindError, MindInput, WireRequest};
use crate::journal::{Event, MindReply, ReadError, Reader};

/// The answers of a journal, by call and by the hash of the prompt.
#[derive(Debug, Clone, Default)]
pub struct RecordedReplies(HashMap<(String, String), MindReply>);

impl RecordedReplies {
    /// Reads the answers of a journal.
    ///
    /// # Errors
    /// The journal cannot be read, or was altered.
    pub fn read(journal: impl BufRead) -> Result<Self, ReadError> {
        let mut reader = Reader::new(journal);
        reader.start()?;
        let mut replies = HashMap::new();
        while let Some(entry) = reader.next_entry()? {
            if let Some(Event::MindInvocation(call)) = entry.line.map(|line| line.event)
                && let Some(reply) = call.reply()
            {
                let key = format!("{}/{}", call.round, call.mind_id);
                replies.insert((key, call.prompt_sha256.clone()), reply);
            }
        }
        Ok(Self(replies))
    }
}

/// A mind that answers the calls of a journal as they were answered, and lets another mind answer the others.
pub struct RecordedMind<M> {
    replies: RecordedReplies,
    mind: M,
}

impl<M: Mind> RecordedMind<M> {
    /// Returns a mind with these answers.
    pub fn new(replies: RecordedReplies, mind: M) -> Self {
        Self { replies, mind }
    }
}

#[async_trait]
impl<M: Mind> Mind for RecordedMind<M> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        self.mind.request(input)
    }

    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError> {
        let key = (context.call_key().to_owned(), input.prompt().sha256());
        match self.replies.0.get(&key) {
            Some(reply) => Ok(reply.clone()),
            None => self.mind.respond(input, context).await,
        }
    }
}
