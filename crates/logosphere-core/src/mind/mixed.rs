//! Minds of several kinds in one run.

use async_trait::async_trait;

use super::Mind;
use super::call::{CallContext, MindError, MindInput, WireRequest};
use crate::journal::MindReply;

/// The minds of a run with several kinds: each call goes to the mind of its entry in
/// [`Settings::minds`](crate::Settings::minds).
pub struct MixedMinds {
    minds: Vec<Box<dyn Mind>>,
    label: String,
}

impl MixedMinds {
    /// Returns the minds of a run, in the order of the entries.
    pub fn new(minds: Vec<Box<dyn Mind>>) -> Self {
        let labels: Vec<_> = minds.iter().map(Mind::label).collect();
        let label = labels.join(", ");
        Self { minds, label }
    }

    fn of(&self, input: &MindInput) -> Result<&dyn Mind, MindError> {
        let entry = input.model().entry;
        let mind = self.minds.get(entry).map(|mind| &**mind);
        mind.ok_or_else(|| {
            let class = llm_types::ErrorClass::BadRequest;
            let message = format!("entry {entry} of minds is missing");
            MindError::new(class, message).fatal()
        })
    }
}

#[async_trait]
impl Mind for MixedMinds {
    fn label(&self) -> &str {
        &self.label
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        self.of(input)?.request(input)
    }

    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError> {
        self.of(input)?.respond(input, context).await
    }
}
