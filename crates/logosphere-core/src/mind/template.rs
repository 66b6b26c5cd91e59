//! The constant part of every request of a mind.

use llm_types::ErrorClass;

use super::Mind;
use super::call::{MindError, MindInput};
use crate::config::{MindEntry, ModelSettings, Settings};
use crate::format::{PromptRole, SystemPrompt, format_prompt};
use crate::journal::RequestTemplate;

/// A text that no request contains by chance.
pub(crate) const PROBE: &str = "logosphere-probe-8c1f6d0e";

impl RequestTemplate {
    /// Returns the constant part of every request of `mind` under these settings, for each entry of
    /// [`Settings::minds`]. Nothing is sent.
    ///
    /// The method builds the request for a probe text. `dialect` is the protocol of the server.
    ///
    /// # Errors
    /// The request cannot be built, or it does not contain the user's text exactly once.
    pub fn of(mind: &dyn Mind, settings: &Settings, dialect: &str) -> Result<Self, MindError> {
        let dialects = settings.minds.iter().flatten().map(|entry| match entry {
            MindEntry::Model(entry) => entry.provider.as_deref().unwrap_or(dialect),
            MindEntry::Scripted(_) => dialect,
        });
        let dialects = dialects.chain(std::iter::repeat(dialect));
        let entries = settings.entries().into_iter().zip(dialects);
        let mut templates =
            entries.map(|(model, dialect)| Self::one(mind, settings, model, dialect));
        // There is always one.
        let first = templates.next().transpose()?;
        let mut first = first.ok_or_else(|| MindError::new(ErrorClass::BadRequest, "no mind"))?;
        first.further = templates.collect::<Result<_, _>>()?;
        Ok(first)
    }

    /// Returns the template of one entry.
    fn one(
        mind: &dyn Mind,
        settings: &Settings,
        model: ModelSettings,
        dialect: &str,
    ) -> Result<Self, MindError> {
        let prompt = settings.prompt();
        let probe = match prompt.role() {
            PromptRole::User => {
                format_prompt(&SystemPrompt::new(PROBE, PromptRole::User), [].into_iter())
            }
            PromptRole::System => format_prompt(&prompt, [PROBE].into_iter()),
        };
        let options = model.options.clone();
        let request = mind.request(&MindInput::new(probe, model.into()))?;
        let unfit = || {
            let message = "the request does not hold the prompt as one JSON string";
            MindError::new(ErrorClass::BadRequest, message).fatal()
        };
        let body = String::from_utf8(request.body).map_err(|_| unfit())?;
        let (before, after) = body.split_once(PROBE).ok_or_else(unfit)?;
        if after.contains(PROBE) {
            return Err(unfit());
        }
        Ok(Self {
            dialect: dialect.to_owned(),
            options,
            header_names: (request.headers.into_iter())
                .map(|(name, _)| name)
                .collect(),
            body: [before.to_owned(), after.to_owned()],
            further: Vec::new(),
        })
    }

    /// Returns the body of a request with this text of the user.
    pub fn fill(&self, user: &str) -> Vec<u8> {
        let [before, after] = &self.body;
        let mut body = Vec::with_capacity(before.len() + user.len() + user.len() / 8 + after.len());
        body.extend_from_slice(before.as_bytes());
        // Writing to a `Vec` cannot fail. The quotes around the text are in `before` and `after` already.
        let _ = serde_json::to_writer(&mut body, user);
        body.remove(before.len());
        body.pop();
        body.extend_from_slice(after.as_bytes());
        body
    }
}
