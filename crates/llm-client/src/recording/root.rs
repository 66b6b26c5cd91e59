//! The hash of a request, by which a cassette knows it.

use serde_json::Value;

use super::hash::{sha256_hex, write_canonical, write_scalar};
use crate::Error;
use crate::provider::HttpRequest;

/// Fields of a body that are not part of the request key.
const IGNORED_FIELDS: [&str; 4] = ["metadata", "stream", "stream_options", "user"];

/// The request key of a request whose body is JSON.
pub(crate) fn key_of(request: &HttpRequest) -> Value {
    request_key(serde_json::from_slice(&request.body).unwrap_or_default())
}

/// The body without the fields that are not part of the request key.
pub(super) fn request_key(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| !IGNORED_FIELDS.contains(&name.as_str()));
    }
    body
}

/// The hash of a request. It covers provider, path and body, but not the user, the form of delivery, the server or the API
/// key.
pub(crate) fn root_of(
    provider: &str,
    request: &HttpRequest,
    replay_key: Option<&str>,
) -> Result<String, Error> {
    let identity = identity(provider, request, replay_key)
        .map_err(|error| Error::refused("request", format!("its body is not JSON: {error}")))?;
    Ok(sha256_hex(&identity))
}

/// The canonical JSON of provider, path, request key and replay key.
fn identity(
    provider: &str,
    request: &HttpRequest,
    replay_key: Option<&str>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::with_capacity(request.body.len() + 256);
    text.extend_from_slice(br#"{"body":"#);
    write_canonical(&request.body, &IGNORED_FIELDS, &mut text)?;
    text.extend_from_slice(br#","path":"#);
    write_scalar(&*request.path, &mut text)?;
    text.extend_from_slice(br#","provider":"#);
    write_scalar(provider, &mut text)?;
    if let Some(key) = replay_key {
        text.extend_from_slice(br#","replay_key":"#);
        write_scalar(key, &mut text)?;
    }
    text.push(b'}');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::hash::canonical_json;
    use super::*;
    use crate::provider::Method;

    #[test]
    fn the_root_is_the_hash_of_the_canonical_identity() {
        let url = "http://localhost/p".parse().unwrap();
        let mut request = HttpRequest::new(Method::Post, url, "/v1/\"x\"");
        let body =
            json!({"z": [1.5, {"b": 1, "a": "\n"}], "model": "m", "stream": true, "user": "u"});
        request.body = serde_json::to_vec_pretty(&body).unwrap().into();
        for key in [None, Some("k\t")] {
            let mut identity =
                json!({"provider": "p", "path": "/v1/\"x\"", "body": request_key(body.clone())});
            if let Some(key) = key {
                identity["replay_key"] = key.into();
            }
            let expected = sha256_hex(canonical_json(&identity).as_bytes());
            assert_eq!(root_of("p", &request, key).unwrap(), expected);
        }
        request.body = "no JSON".into();
        assert!(root_of("p", &request, None).is_err());
    }
}
