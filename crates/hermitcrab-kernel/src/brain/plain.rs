use llm_client::{Error, ErrorClass, ErrorKind};

use super::BrainError;

/// The most characters of a server's own words.
const WORDS: usize = 200;

impl BrainError {
    /// The error in one plain line for the person.
    pub fn plain(&self) -> String {
        match self {
            Self::Model { model, source } => of_model(model, source),
            Self::Cancelled => "stopped".to_owned(),
            Self::Budget(what) | Self::Other(what) => one_line(what),
        }
    }

    /// The key was refused, so another one must be asked for.
    pub fn is_key_refused(&self) -> bool {
        matches!(self, Self::Model { source, .. } if source.class() == ErrorClass::Auth)
    }
}

fn of_model(model: &str, error: &Error) -> String {
    let http = error
        .status()
        .map(|status| format!(" (HTTP {status})"))
        .unwrap_or_default();
    match error.class() {
        ErrorClass::Auth => format!("key refused{http}: give another one"),
        ErrorClass::Quota => {
            format!("the account has nothing left{http}: add credit or use another key")
        }
        ErrorClass::ModelUnavailable => format!("{model} is not served here{http}"),
        ErrorClass::RateLimit => format!("too many requests{http}: wait a minute, then ask again"),
        ErrorClass::Overloaded => format!("{model} is overloaded{http}: ask again in a while"),
        ErrorClass::Server => format!("the provider failed{http}: ask again"),
        ErrorClass::BadRequest => {
            format!("the request was refused: {}", one_line(&error.message()))
        }
        ErrorClass::Network => format!(
            "no connection to the provider: {}",
            one_line(&error.message())
        ),
        ErrorClass::Timeout => "the provider did not answer in time: ask again".to_owned(),
        ErrorClass::BadResponse => match error.kind() {
            ErrorKind::StreamTruncated { .. } => {
                "the answer broke off, and nothing of it is kept: ask again".to_owned()
            }
            _ => format!("the answer cannot be read: {}", one_line(&error.message())),
        },
        ErrorClass::Budget | ErrorClass::PriceUnknown => format!(
            "the budget ends here (--max-usd): {}",
            one_line(&error.message())
        ),
        ErrorClass::ReplayMiss => "the recording does not hold this request".to_owned(),
        _ => one_line(&error.message()),
    }
}

/// The start of `text`, in one line and without keys: a server may repeat what it was sent.
fn one_line(text: &str) -> String {
    let (text, _) = pscale_blocks::remove_keys(text);
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(WORDS) {
        line.truncate(at);
        line.push('…');
    }
    line
}
