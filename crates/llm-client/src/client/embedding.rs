//! Vectors of texts: one call for each request that the texts fill.

use llm_types::{Cost, CostSource};

use super::Client;
use super::answer::other_form;
use super::call;
use crate::embed::{EmbedReply, EmbedRequest};
use crate::provider::{Answer, Route};
use crate::{Error, Usd};

/// The maximum number of texts, and of their bytes, in an HTTP request.
const INPUTS: usize = 256;
const BYTES: usize = 2_000_000;

impl Client {
    /// Returns a vector for each text, in the order of the texts.
    ///
    /// At most 256 texts and 2 MB go into one HTTP request; more are split, and each request is a call of its budget, retries,
    /// limits and record. If one of them fails, there is no reply; those before it are charged and recorded.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use llm_client::embed::EmbedRequest;
    /// use llm_client::{Auth, Client, Compat, Dialect, Endpoint, SystemClock};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::io::{Read as _, Write as _};
    /// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// # let address = format!("http://{}/v1", listener.local_addr()?);
    /// # let server = std::thread::spawn(move || {
    /// #     let mut socket = listener.accept().unwrap().0;
    /// #     let mut request = Vec::new();
    /// #     while !request.ends_with(b"}") {
    /// #         let mut bytes = [0; 4096];
    /// #         let read = socket.read(&mut bytes).unwrap();
    /// #         request.extend_from_slice(&bytes[..read]);
    /// #     }
    /// #     let body = r#"{"model":"small","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":5}}"#;
    /// #     write!(socket, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    /// # });
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// // A server on this machine, such as llama.cpp with `--embedding`: address = "http://127.0.0.1:8080/v1".
    /// let endpoint = Endpoint::new(&address, Auth::None)?;
    /// let provider = Arc::new(Compat::new(endpoint, Dialect::generic()));
    /// let client = Client::builder(provider, Arc::new(SystemClock::new())).build()?;
    ///
    /// let reply = client.embed(&EmbedRequest::new("small", ["a text", "another"])).await?;
    /// assert_eq!(reply.vectors, [[3.0, 4.0], [0.0, 2.0]]);
    /// assert_eq!((reply.dims, reply.usage.input), (2, 5));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # server.join().unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) for no text, an empty one or one above 2 MB, and for a provider
    /// without embeddings; otherwise see [`Error`].
    pub async fn embed(&self, request: &EmbedRequest) -> Result<EmbedReply, Error> {
        let mut whole: Option<EmbedReply> = None;
        for inputs in parts(&request.inputs)? {
            let part = request.part(inputs);
            let answer = call::run(&self.inner, &part, Route::Embed, None).await;
            let reply = match (answer, &whole) {
                (Ok(Answer::Vectors(reply)), _) => *reply,
                (Ok(_), _) => return Err(other_form()),
                (Err(mut error), before) => {
                    if let Some(before) = before {
                        let attempts = &mut error.context_mut().attempts;
                        attempts.splice(0..0, before.attempts.iter().cloned());
                    }
                    return Err(error);
                }
            };
            whole = Some(match whole {
                None => reply,
                Some(before) => joined(before, reply)?,
            });
        }
        whole.ok_or_else(|| Error::refused("inputs", "empty; give at least one text"))
    }
}

/// Returns the texts of each HTTP request.
fn parts(inputs: &[String]) -> Result<Vec<&[String]>, Error> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in inputs.iter().enumerate() {
        let field = || format!("inputs.{index}");
        if text.is_empty() {
            return Err(Error::refused(field(), "empty"));
        }
        if text.len() > BYTES {
            let why = format!("{} bytes; at most {BYTES} fit a request", text.len());
            return Err(Error::refused(field(), why));
        }
        if index - start == INPUTS || bytes + text.len() > BYTES {
            parts.push(&inputs[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += text.len();
    }
    parts.extend((start < inputs.len()).then(|| &inputs[start..]));
    Ok(parts)
}

/// Adds the reply to the next texts.
fn joined(mut whole: EmbedReply, next: EmbedReply) -> Result<EmbedReply, Error> {
    whole.attempts.extend(next.attempts);
    let mut differs = None;
    if whole.dims != next.dims {
        differs = Some(format!(
            "vectors of {} and of {} numbers",
            whole.dims, next.dims
        ));
    } else if whole.model != next.model {
        differs = Some(format!("answers of {} and of {}", whole.model, next.model));
    }
    if let Some(what) = differs {
        let mut error = Error::bad_response(format!("expected vectors of one model, got {what}"));
        error.context_mut().attempts = whole.attempts;
        return Err(error);
    }
    whole.vectors.extend(next.vectors);
    whole.usage.add(&next.usage);
    let sum = whole.cost.usd.zip(next.cost.usd);
    whole.cost = match sum {
        Some((usd, more)) if next.cost.from != CostSource::Unknown => {
            Cost::new(Usd::saturating_add(usd, more), whole.cost.from)
        }
        _ => Cost::UNKNOWN,
    };
    Ok(whole)
}
