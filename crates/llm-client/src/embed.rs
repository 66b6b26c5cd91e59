//! Embeddings: vectors of texts, by [`Client::embed`](crate::Client::embed).

use llm_types::{Attempt, Cost, Message, ReplySource, Request, Usage};
use serde_json::{Map, Value};

use crate::settings::setters::setters;

/// A request for the vectors of texts.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EmbedRequest {
    /// The model's id at its provider.
    pub model: String,
    /// The texts, none of them empty, each at most 2 MB.
    pub inputs: Vec<String>,
    /// The length of the vectors, for models that have several.
    pub dimensions: Option<u32>,
    /// Headers of the request, as in [`Request::headers`].
    pub headers: Vec<(String, String)>,
}

impl EmbedRequest {
    /// Creates a request for vectors of the model's own length.
    pub fn new<T: Into<String>>(
        model: impl Into<String>,
        inputs: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            model: model.into(),
            inputs: inputs.into_iter().map(Into::into).collect(),
            dimensions: None,
            headers: Vec::new(),
        }
    }

    setters! {
        dimensions: Option<u32>,
        headers: Vec<(String, String)>,
    }

    /// The request of a part of the texts as the layers pass it on: a message for each text, and the length as a field of the
    /// body.
    pub(crate) fn part(&self, inputs: &[String]) -> Request {
        let mut request = Request::new(&self.model, "");
        request.messages = inputs.iter().map(Message::user).collect();
        request.headers.clone_from(&self.headers);
        let length = self.dimensions.map(|length| ("dimensions", length));
        let fields = length.into_iter();
        request.extra = (fields.map(|(name, length)| (name.to_owned(), Value::from(length))))
            .collect::<Map<_, _>>();
        request
    }
}

/// The vectors of texts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmbedReply {
    /// A vector for each text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// The model that answered, which need not be the one that was asked for.
    pub model: String,
    /// The length of each vector.
    pub dims: usize,
    /// The tokens of all requests; estimates if `known` is false.
    pub usage: Usage,
    /// The money spent on all requests; unknown if that of one is.
    pub cost: Cost,
    /// Every attempt of all requests, in order.
    pub attempts: Vec<Attempt>,
    /// Whether a model answered now, or a cassette.
    pub source: ReplySource,
    /// The provider's id of the first HTTP exchange.
    pub request_id: Option<String>,
}

impl EmbedReply {
    /// A live reply of `model`, for custom providers: tokens and cost unknown. `vectors` have equal lengths.
    pub fn new(model: impl Into<String>, vectors: Vec<Vec<f32>>) -> Self {
        Self {
            dims: vectors.first().map_or(0, Vec::len),
            vectors,
            model: model.into(),
            usage: Usage::default(),
            cost: Cost::UNKNOWN,
            attempts: Vec::new(),
            source: ReplySource::Live,
            request_id: None,
        }
    }
}
