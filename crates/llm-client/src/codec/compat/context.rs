use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use llm_types::Origin;
use serde_json::Value;
use serde_json::value::RawValue;

use super::dialect::Dialect;
use crate::codec::error_body::{self, RequestFacts};
use crate::transport::{HttpRequest, HttpResponse, Transport};
use crate::{Error, Redactor};

/// The facts about a request that the decoding of its answer needs.
pub(super) struct RequestContext {
    pub(super) origin: Origin,
    pub(super) dialect: Dialect,
    pub(super) redactor: Redactor,
    /// The headers of the answer.
    pub(super) headers: Vec<(String, String)>,
    /// The body that was sent.
    pub(super) sent: Bytes,
    pub(super) sent_ids: OnceLock<BTreeSet<String>>,
}

impl RequestContext {
    /// Whether the conversation has a tool call of this id: such an id is not made again.
    pub(super) fn is_sent(&self, id: &str) -> bool {
        let ids = || {
            let sent: Value = serde_json::from_slice(&self.sent).unwrap_or_default();
            let messages = sent["messages"].as_array().into_iter().flatten();
            let calls = messages.filter_map(|message| message["tool_calls"].as_array());
            let ids = calls.flatten().filter_map(|call| call["id"].as_str());
            ids.map(str::to_owned).collect()
        };
        self.sent_ids.get_or_init(ids).contains(id)
    }

    /// Sends `request` and returns the answer if it has a success status.
    pub(super) async fn execute(
        mut self,
        transport: &Arc<dyn Transport>,
        request: HttpRequest,
    ) -> Result<(Self, HttpResponse), Error> {
        let mut response = transport.execute(request).await?;
        let status = response.status;
        if !(200..300).contains(&status) {
            let headers = std::mem::take(&mut response.headers);
            let body = response.start(error_body::BODY_READ).await;
            return Err(error_body::from_response(
                self.facts(),
                status,
                &headers,
                &body,
            ));
        }
        self.headers.clone_from(&response.headers);
        Ok((self, response))
    }

    pub(super) fn facts(&self) -> RequestFacts<'_> {
        RequestFacts {
            provider: &self.origin.provider,
            model: &self.origin.model,
            moderates: self.dialect.moderates,
            redactor: &self.redactor,
        }
    }

    /// The error of an `error` field.
    pub(super) fn fault(&self, object: &RawValue) -> Error {
        error_body::from_object(self.facts(), &self.headers, object)
    }

    pub(super) fn request_id(&self) -> Option<String> {
        error_body::context(&self.headers).request_id
    }
}
