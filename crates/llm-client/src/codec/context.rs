use std::sync::Arc;

use llm_types::Origin;
use serde_json::value::RawValue;

use super::error_body;
use crate::provider::{Headers, HttpRequest, HttpResponse, Transport};
use crate::{Error, Redactor};

/// The facts about a request that the decoding of its answer needs, with the headers of the answer.
#[derive(Debug)]
pub(crate) struct RequestContext {
    /// The model is empty if none was requested, so that none can be unavailable.
    pub origin: Origin,
    pub redactor: Redactor,
    /// Whether a 403 can mean that the content was flagged (`OpenRouter`).
    pub moderates: bool,
    pub headers: Headers,
}

impl RequestContext {
    pub fn new(provider: &str, model: &str, redactor: &Redactor) -> Self {
        Self {
            origin: Origin::new(provider, model),
            redactor: redactor.clone(),
            moderates: false,
            headers: Headers::default(),
        }
    }

    /// Sends `request` and keeps the headers of the response.
    pub async fn execute(
        &mut self,
        transport: &Arc<dyn Transport>,
        request: HttpRequest,
    ) -> Result<HttpResponse, Error> {
        let response = transport.execute(request).await?;
        self.headers.clone_from(&response.headers);
        Ok(response)
    }

    /// The error of a response without a success status. A redirect is one too, so that the key is not sent elsewhere.
    pub async fn failure(&self, response: HttpResponse) -> Error {
        let status = response.status;
        let body = response.start(error_body::BODY_READ).await;
        error_body::from_response(self, status, &body)
    }

    /// The error of an `error` field, in a response with a success status or in a stream.
    pub fn fault(&self, object: &RawValue) -> Error {
        error_body::from_object(self, object)
    }

    /// The provider's id of the exchange.
    pub fn request_id(&self) -> Option<String> {
        error_body::context(&self.headers).request_id
    }

    /// The error with the id of this exchange.
    pub fn located(&self, mut error: Error) -> Error {
        let request_id = &mut error.context_mut().request_id;
        *request_id = request_id.take().or_else(|| self.request_id());
        error
    }

    /// The start of a server's text, without keys.
    pub fn excerpt(&self, text: &str) -> String {
        error_body::excerpt(&self.redactor, text)
    }
}
