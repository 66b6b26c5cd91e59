//! Canaries: unique words for facts that minds must not learn, searched for in every request.

use async_trait::async_trait;

use crate::journal::{FailureClass, MindReply};
use crate::mind::{CallContext, Mind, MindError, MindInput, WireRequest};

/// A mind that searches each of its requests for canaries before sending it, if the run checks requests
/// ([`crate::RunControl::check_leaks`]).
pub struct CanaryMind<M> {
    mind: M,
    /// The name of each fact, and its canary.
    canaries: Vec<(String, String)>,
}

impl<M> CanaryMind<M> {
    /// Watches `mind`. Each canary is the name of a fact, such as `run id`, and a word that no request contains by
    /// chance.
    pub fn new(mind: M, canaries: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            mind,
            canaries: canaries.into_iter().collect(),
        }
    }

    fn search(&self, request: &WireRequest) -> Result<(), MindError> {
        let headers = (request.headers.iter()).flat_map(|(name, value)| [name, value]);
        let places: Vec<_> = std::iter::once(request.body.as_slice())
            .chain(headers.map(String::as_bytes))
            .collect();
        for (what, word) in &self.canaries {
            // As it stands in a JSON text, which differs for paths with backslashes.
            let quoted = serde_json::Value::from(word.as_str()).to_string();
            let quoted = quoted.trim_matches('"');
            let holds = |place: &&[u8]| {
                [word, quoted]
                    .iter()
                    .any(|word| memchr::memmem::find(place, word.as_bytes()).is_some())
            };
            if places.iter().any(holds) {
                let message = format!("the request holds the {what} {word:?}");
                return Err(MindError::new(FailureClass::Leak, message).fatal());
            }
        }
        Ok(())
    }
}

#[async_trait]
impl<M: Mind> Mind for CanaryMind<M> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        let request = self.mind.request(input)?;
        self.search(&request)?;
        Ok(request)
    }

    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError> {
        self.mind.respond(input, context).await
    }
}
