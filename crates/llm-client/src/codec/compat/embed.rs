//! The vectors of texts: `POST /embeddings`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use llm_types::{Request, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::decode::copy;
use crate::Error;
use crate::codec::fields::Fields;
use crate::codec::{Body, RequestContext, error_body};
use crate::embed::EmbedReply;

/// The largest number in a vector that is believed.
const LARGEST: f64 = 1e6;

/// The facts of a request that its reply is checked by.
#[derive(Deserialize)]
pub(super) struct SentInputs {
    input: Vec<serde::de::IgnoredAny>,
    dimensions: Option<usize>,
}

/// Encodes the texts of a request, which has a message for each.
pub(super) fn body(request: &Request, model: &str) -> Result<Bytes, Error> {
    let texts: Vec<String> = request
        .messages
        .iter()
        .map(llm_types::Message::text)
        .collect();
    let mut body = Body::default();
    body.set("model", model)?;
    body.set("input", &texts)?;
    body.set("encoding_format", "float")?;
    body.finish(&request.extra)
}

impl SentInputs {
    /// Reads the body of a request.
    pub fn of(body: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(body).map_err(|error| Error::refused("request", error.to_string()))
    }

    /// Reads the vectors in the order of the texts.
    pub fn reply(&self, context: &RequestContext, body: &[u8]) -> Result<EmbedReply, Error> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}');
        let located = |error: Error| error.with_context(error_body::context(&context.headers));
        let unreadable = |why: &str| {
            let text = context.excerpt(text);
            located(Error::bad_response(format!(
                "expected a list of vectors, {why}: {text}"
            )))
        };
        let fields = Fields::of(text).ok_or_else(|| unreadable("got"))?;
        if let Some(error) = fields.raw("error") {
            return Err(context.fault(error));
        }
        let rows = fields.list("data").ok_or_else(|| unreadable("got none"))?;
        let wanted = self.input.len();
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; wanted];
        for row in rows {
            let row = Fields::of(row.get()).ok_or_else(|| unreadable("got another row"))?;
            let problem = |what: String| located(Error::protocol(what));
            let index = row.count("index").and_then(|it| usize::try_from(it).ok());
            let index = index.ok_or_else(|| problem("a vector without an index".to_owned()))?;
            let place = vectors
                .get_mut(index)
                .ok_or_else(|| problem(format!("a vector with index {index} of {wanted} texts")))?;
            let vector = vector(row.raw("embedding")).map_err(|why| {
                located(Error::bad_response(format!(
                    "the vector of text {index} {why}"
                )))
            })?;
            if place.replace(vector).is_some() {
                return Err(problem(format!("two vectors with index {index}")));
            }
        }
        let missing = vectors.iter().position(Option::is_none);
        if let Some(index) = missing {
            let what = format!("the vector with index {index} is missing");
            return Err(located(Error::protocol(what)));
        }
        let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
        let model = fields.text("model").filter(|model| !model.is_empty());
        let mut reply = EmbedReply::new(
            model.unwrap_or_else(|| context.origin.model.clone()),
            vectors,
        );
        let dims = self.dimensions.unwrap_or(reply.dims);
        if let Some((index, other)) =
            (reply.vectors.iter().enumerate()).find(|it| it.1.len() != dims)
        {
            return Err(located(Error::bad_response(format!(
                "the vector of text {index} has {} numbers, expected {dims}",
                other.len()
            ))));
        }
        reply.usage = usage(fields.raw("usage"));
        reply.request_id = context.request_id();
        Ok(reply)
    }
}

/// Reads a vector: numbers, or 32-bit little-endian floats in base64.
fn vector(raw: Option<&RawValue>) -> Result<Vec<f32>, String> {
    let raw = raw.ok_or("is missing")?;
    let numbers: Vec<f64> = if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        let bytes = STANDARD
            .decode(text)
            .map_err(|_| "is neither a list nor base64")?;
        let (floats, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err("has a part of a number in its base64".to_owned());
        }
        floats
            .iter()
            .map(|float| f32::from_le_bytes(*float).into())
            .collect()
    } else {
        serde_json::from_str(raw.get()).map_err(|_| "is not a list of numbers")?
    };
    if numbers.is_empty() {
        return Err("is empty".to_owned());
    }
    let is_beyond = |number: &&f64| number.is_nan() || number.abs() > LARGEST;
    match numbers.iter().find(is_beyond) {
        Some(number) => Err(format!("holds {number}")),
        None => Ok(numbers.into_iter().map(|number| number as f32).collect()),
    }
}

/// Reads the usage: an embedding has a prompt only.
fn usage(raw: Option<&RawValue>) -> Usage {
    let mut usage = Usage::default();
    if let Some((raw, fields)) = raw.and_then(|raw| Some((raw, Fields::of(raw.get())?))) {
        let tokens = fields
            .count("prompt_tokens")
            .or_else(|| fields.count("total_tokens"));
        usage.input = tokens.unwrap_or(0);
        usage.known = tokens.is_some();
        usage.raw = Some(copy(raw));
    }
    usage
}
