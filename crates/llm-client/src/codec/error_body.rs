use llm_types::{Origin, Reply};
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::context::RequestContext;
use super::fields::Fields;
use crate::error::UnavailableModel;
use crate::error::call::{ErrorContext, RetryHeaders};
use crate::layers::retry;
use crate::provider::Headers;
use crate::redact::Redactor;
use crate::{Error, ErrorKind};

/// The maximum number of bytes of a body that are read for an error; a JSON error that is cut cannot be parsed.
pub(crate) const BODY_READ: usize = 64 << 10;
/// The maximum number of bytes of a server's text in an error.
const MESSAGE_KEPT: usize = 2 << 10;
/// The maximum number of characters of a server's text in the error about a model.
const WORDS_KEPT: usize = 300;
/// The maximum number of bytes of a type or a code in an error.
const WORD_KEPT: usize = 200;

/// The error of a response with an error status.
pub(crate) fn from_response(asked: &RequestContext, status: u16, body: &[u8]) -> Error {
    let text = String::from_utf8_lossy(body);
    let (found, body_id) = match Fields::of(&text) {
        Some(fields) => (
            ErrorBody::in_body(&fields, &text),
            fields.text("request_id"),
        ),
        None => (ErrorBody::text(&text), None),
    };
    let mut error = found.into_error(asked, status);
    let id = &mut error.context_mut().request_id;
    let body_id = || Some(cleaned(&asked.redactor, &body_id?, WORD_KEPT));
    *id = id.take().or_else(body_id);
    error
}

/// A truncated reply for an error, without keys.
pub(crate) fn partial(redactor: &Redactor, reply: Reply) -> Box<Reply> {
    let Ok(text) = serde_json::to_string(&reply) else {
        return Box::new(reply);
    };
    let clean = redactor.redact_exact(text.clone());
    if clean == text {
        return Box::new(reply);
    }
    let empty = || Reply::new(reply.model.clone(), Vec::new(), reply.stop.clone());
    Box::new(serde_json::from_str(&clean).unwrap_or_else(|_| empty()))
}

/// The error of an `error` object in a response with a success status, or in a stream.
pub(crate) fn from_object(asked: &RequestContext, object: &RawValue) -> Error {
    let found = ErrorBody::in_error(object);
    if let Some(status) = found.status() {
        return found.into_error(asked, status);
    }
    let message = asked.excerpt(&found.message);
    Error::bad_response(format!("an error without a status: {message}"))
        .with_context(context(&asked.headers))
}

/// The start of a server's text, without keys, at most 2 KiB.
pub(crate) fn excerpt(redactor: &Redactor, text: &str) -> String {
    cleaned(redactor, text, MESSAGE_KEPT)
}

/// The context in the headers of a response: request id and retry headers.
pub(crate) fn context(headers: &Headers) -> ErrorContext {
    let text = |name| headers.get(name).map(str::to_owned);
    let should_retry = headers.get("x-should-retry").and_then(|text| {
        let is = |word: &str| text.trim().eq_ignore_ascii_case(word);
        is("true").then_some(true).or(is("false").then_some(false))
    });
    let retry_headers = RetryHeaders {
        should_retry,
        retry_after_ms: text("retry-after-ms"),
        retry_after: text("retry-after"),
    };
    ErrorContext {
        request_id: text("request-id").or_else(|| text("x-request-id")),
        retry_after: retry::in_numbers(&retry_headers),
        retry_headers,
        ..ErrorContext::default()
    }
}

/// Removes keys, then cuts, so that no part of a key remains.
fn cleaned(redactor: &Redactor, text: &str, limit: usize) -> String {
    // The rest of a huge text is not worth a search; what is kept lies far from this cut.
    let start = &text[..text.floor_char_boundary(BODY_READ)];
    let mut clean = redactor.redact(start);
    clean.truncate(clean.floor_char_boundary(limit));
    clean
}

/// The error in the body of a response.
#[derive(Debug, Default)]
struct ErrorBody {
    kind: Option<String>,
    code: Option<String>,
    /// The field `details.error_code`.
    detail_code: Option<String>,
    message: String,
    /// Whether the error is JSON, which means that the route exists.
    json: bool,
}

impl ErrorBody {
    fn text(text: &str) -> Self {
        Self {
            message: text.trim().to_owned(),
            ..Self::default()
        }
    }

    fn in_body(fields: &Fields<'_>, body: &str) -> Self {
        if let Some(error) = fields.raw("error") {
            return Self::in_error(error);
        }
        // An older form of model servers: the error is the body itself.
        if fields.text("object").as_deref() == Some("error") {
            return Self::in_object(fields, body);
        }
        match fields.raw("detail") {
            Some(detail) => Self::text(&text_or_json(detail)),
            None => Self::text(body),
        }
    }

    /// Reads the field `error`, which usually is an object.
    fn in_error(error: &RawValue) -> Self {
        match Fields::of(error.get()) {
            Some(fields) => Self::in_object(&fields, error.get()),
            None => Self {
                json: true,
                ..Self::text(&text_or_json(error))
            },
        }
    }

    fn in_object(fields: &Fields<'_>, whole: &str) -> Self {
        let message = fields.raw("message").map(text_or_json);
        Self {
            kind: fields.text("type"),
            code: fields.raw("code").map(text_or_json),
            detail_code: fields
                .object("details")
                .and_then(|details| details.text("error_code")),
            message: message.unwrap_or_else(|| whole.to_owned()),
            json: true,
        }
    }

    /// The HTTP status that corresponds to an error inside a 200.
    fn status(&self) -> Option<u16> {
        let code = self.code.as_deref();
        let number = code.and_then(|code| code.trim().parse().ok());
        number
            .filter(|status| (400..600).contains(status))
            .or_else(|| self.kind.as_deref().and_then(status_of_word))
            .or_else(|| code.and_then(status_of_word))
    }

    fn into_error(self, asked: &RequestContext, status: u16) -> Error {
        let context = context(&asked.headers);
        let waits = context.retry_headers.retry_after.is_some()
            || context.retry_headers.retry_after_ms.is_some();
        let quota = self.quota() || (status == 402 && !waits);
        let message = match redirection(status, &asked.headers) {
            Some(words) => asked.excerpt(&words),
            None => asked.excerpt(&self.message),
        };
        let word = |text: String| cleaned(&asked.redactor, &text, WORD_KEPT);
        let kind = match status {
            401 => ErrorKind::Auth { status, message },
            403 if !asked.moderates => ErrorKind::Auth { status, message },
            404 if self.names_a_model(&asked.origin.model) => {
                let Origin {
                    provider, model, ..
                } = &asked.origin;
                let mut unavailable = UnavailableModel::new(provider, model, status);
                unavailable.message = in_one_line(&message);
                ErrorKind::ModelUnavailable(Box::new(unavailable))
            }
            429 => ErrorKind::RateLimited {
                status,
                message,
                quota,
            },
            _ if status == 529 || self.kind.as_deref() == Some("overloaded_error") => {
                ErrorKind::Overloaded { status, message }
            }
            _ => ErrorKind::Api {
                status,
                kind: self.kind.map(word),
                code: self.code.map(word),
                message,
                quota,
            },
        };
        Error::from(kind).with_context(context)
    }

    /// The account has nothing left.
    fn quota(&self) -> bool {
        let mut words = [&self.kind, &self.code].into_iter().flatten();
        words.any(|word| is_of_account(word))
            // An invalid request at Anthropic, in its words.
            || (self.message.to_ascii_lowercase()).contains("credit balance is too low")
            || self
                .detail_code
                .as_deref()
                .is_some_and(|code| code.ends_with("spend_limit_reached"))
    }

    /// A 404 is about the model, not about the path: it is a JSON error, or its words say so.
    fn names_a_model(&self, model: &str) -> bool {
        let says = |word| self.message.to_ascii_lowercase().contains(word);
        !model.is_empty() && (self.json || says("model") || says("no endpoints"))
    }
}

/// Whether the error's type or code says that the account has nothing left.
fn is_of_account(word: &str) -> bool {
    let words = [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
    ];
    words.contains(&word)
}

/// A server's text for the end of a line, without its line ends.
fn in_one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(WORDS_KEPT).collect()
}

/// The target of a redirect: scheme and host only, since a path may contain anything.
fn redirection(status: u16, headers: &Headers) -> Option<String> {
    let to = headers
        .get("location")
        .filter(|_| (300..400).contains(&status))?;
    let origin = Url::parse(to.trim()).ok().map(|url| url.origin());
    Some(match origin.filter(url::Origin::is_tuple) {
        Some(origin) => format!(
            "redirected to {}, which is not followed",
            origin.ascii_serialization()
        ),
        None => "redirected, which is not followed".to_owned(),
    })
}

/// The HTTP status that corresponds to a provider's error type.
fn status_of_word(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "api_error" | "server_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// A text without its quotes; anything else as JSON.
fn text_or_json(raw: &RawValue) -> String {
    match serde_json::from_str(raw.get()) {
        Ok(Value::String(text)) => text,
        _ => raw.get().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &[u8]) -> Error {
        let redactor = Redactor::new(Some("my-own-key".into()));
        from_response(&RequestContext::new("test", "m", &redactor), status, body)
    }

    fn object(text: &str) -> Error {
        let asked = RequestContext::new("test", "m", &Redactor::default());
        from_object(&asked, serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_message_is_cut_between_characters_after_its_keys_are_gone() {
        let body = format!("{}my-own-key{}", "ä".repeat(1000), "ö".repeat(4000));
        let error = of(500, body.as_bytes());
        let ErrorKind::Api { message, .. } = error.kind() else {
            panic!("not an api error");
        };
        assert!(
            message.len() <= MESSAGE_KEPT && message.contains("[redacted]"),
            "{message}"
        );
        assert!(!message.contains("my-own-key"));
    }

    #[test]
    fn hostile_bodies_keep_their_status() {
        let deep = format!(
            r#"{{"error":{{"message":{}1{}}}}}"#,
            "[".repeat(9999),
            "]".repeat(9999)
        );
        let bodies: [&[u8]; 9] = [
            b"\xff\xfe\x00",
            b"null",
            b"[]",
            br#"{"error":null}"#,
            br#"{"error":[1]}"#,
            br#"{"error":{"type":1,"code":[],"message":{},"details":"x"}}"#,
            br#"{"error":{"message":"\ud800"}}"#,
            br#"{"detail":{"a":1},"request_id":7}"#,
            deep.as_bytes(),
        ];
        for body in bodies {
            assert_eq!(
                of(500, body).status(),
                Some(500),
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    }

    #[test]
    fn an_account_without_credit_is_not_a_bad_request() {
        let empty = "Your credit balance is too low to access the Anthropic API.";
        for (kind, code, message) in [
            ("invalid_request_error", "", empty),
            ("invalid_request_error", "billing_hard_limit_reached", "x"),
            ("billing_not_active", "", "x"),
        ] {
            let error = serde_json::json!({"type": kind, "code": code, "message": message});
            let body = serde_json::json!({"error": error}).to_string();
            assert_eq!(of(400, body.as_bytes()).class(), crate::ErrorClass::Quota);
        }
    }

    #[test]
    fn a_404_that_is_not_about_the_model_stays_one() {
        assert_eq!(
            of(404, b"404 page not found").class().as_str(),
            "bad_request"
        );
        assert_eq!(
            of(404, br#"{"detail":"Not Found"}"#).class().as_str(),
            "bad_request"
        );
        assert_eq!(
            of(404, b"model 'm' not found").class().as_str(),
            "model_unavailable"
        );
        let older = br#"{"object":"error","message":"The model does not exist.","code":404}"#;
        assert_eq!(of(404, older).class().as_str(), "model_unavailable");
    }

    #[test]
    fn an_error_in_a_200_takes_its_number_then_its_word() {
        assert_eq!(
            object(r#"{"code":"503","type":"api_error"}"#).status(),
            Some(503)
        );
        assert_eq!(
            object(r#"{"code":7,"type":"api_error"}"#).status(),
            Some(500)
        );
        assert_eq!(
            object(r#"{"type":"overloaded_error"}"#).class().as_str(),
            "overloaded"
        );
        assert_eq!(
            object(r#"{"type":"rate_limit_error"}"#).class().as_str(),
            "rate_limit"
        );
        assert_eq!(
            object(r#"{"type":"invalid_request_error"}"#).status(),
            Some(400)
        );
        assert_eq!(
            object(r#"{"code":"insufficient_quota"}"#).class().as_str(),
            "quota"
        );
        for nothing in [
            r#""words""#,
            "{}",
            r#"{"code":200}"#,
            r#"{"type":"?"}"#,
            "[[1]]",
        ] {
            assert_eq!(
                object(nothing).class().as_str(),
                "bad_response",
                "{nothing}"
            );
        }
    }

    #[test]
    fn the_id_of_the_exchange_may_stand_in_the_body() {
        let error = of(
            400,
            br#"{"type":"error","error":{"type":"x"},"request_id":"req_1"}"#,
        );
        assert_eq!(error.request_id(), Some("req_1"));
    }
}
