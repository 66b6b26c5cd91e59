//! A mind that answers the calls of a journal as they were answered.

use std::collections::HashMap;
use std::io::BufRead;

use async_trait::async_trait;

use super::Mind;
use super::call::{CallContext, MindError, MindInput, WireRequest};
use crate::format::sha256_hex;
use crate::journal::{CallError, Event, MindReply, ReadError, Reader};

/// The outcomes of the calls of a journal, by call and by the hash of the request.
#[derive(Debug, Clone, Default)]
pub struct RecordedReplies(HashMap<(String, String), Result<MindReply, MindError>>);

impl RecordedReplies {
    /// Reads the outcomes of a journal.
    ///
    /// # Errors
    /// The journal cannot be read, or was altered.
    pub fn read(journal: impl BufRead) -> Result<Self, ReadError> {
        let mut reader = Reader::new(journal);
        reader.start()?;
        let mut outcomes = HashMap::new();
        let mut failure: Option<CallError> = None;
        while let Some(entry) = reader.next_entry()? {
            match entry.line.map(|line| line.event) {
                Some(Event::Error(error)) => failure = Some(error),
                Some(Event::MindInvocation(call)) => {
                    let failure = failure.take();
                    let outcome = match (call.reply(), failure) {
                        (Some(reply), _) => Ok(reply),
                        (None, Some(error)) => Err(MindError {
                            class: error.class,
                            message: error.message,
                            fatal: error.fatal,
                            attempts: error.attempts,
                        }),
                        (None, None) => continue,
                    };
                    let key = format!("{}/{}", call.round, call.mind_id);
                    outcomes.insert((key, call.request_sha256.clone()), outcome);
                }
                _ => {}
            }
        }
        Ok(Self(outcomes))
    }
}

/// A mind for which calls have the outcomes of a journal if their requests are equal, and for which another mind answers the
/// others.
pub struct RecordedMind<M> {
    replies: RecordedReplies,
    mind: M,
}

impl<M: Mind> RecordedMind<M> {
    /// Returns a mind with these outcomes.
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
        let request = sha256_hex(self.mind.request(input)?.body);
        let key = (context.call_key().to_owned(), request);
        match self.replies.0.get(&key) {
            Some(outcome) => outcome.clone(),
            None => self.mind.respond(input, context).await,
        }
    }
}
