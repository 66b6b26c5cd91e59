//! The headers of one request, in addition to those of the client.

use std::collections::BTreeSet;

use crate::Error;
use crate::provider::Headers;

/// The header with the features of Anthropic, which is a list.
const BETA: &str = "anthropic-beta";
/// The names that the client or HTTP itself sets. A `*` is any ending.
const SET: [&str; 15] = [
    "accept*",
    "api-key",
    "authorization",
    "connection",
    "content-*",
    "cookie",
    "expect",
    "host",
    "proxy-*",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-api-key",
    "x-retry-count",
];
/// The maximum number of headers, length of a name, and length of a value in bytes.
const MOST: usize = 16;
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 4096;

/// Adds the headers of a request to those that the client sends.
///
/// # Errors
/// [`ErrorKind::Refused`](crate::ErrorKind::Refused) names the header: it is set by the client, given twice or cannot be sent.
pub(super) fn add(sent: &mut Headers, own: &[(String, String)]) -> Result<(), Error> {
    if own.len() > MOST {
        let why = format!("{} headers; at most {MOST} are sent", own.len());
        return Err(Error::refused("headers", why));
    }
    let mut names = BTreeSet::new();
    for (name, value) in own {
        let name = name.to_ascii_lowercase();
        let refused = |why: &str| {
            Err(Error::refused(
                format!("headers.{}", name.escape_debug()),
                why,
            ))
        };
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if !(1..=LONGEST_NAME).contains(&name.len()) || !name.bytes().all(is_plain) {
            return refused("a name has 1 to 64 of a-z, 0-9 and -");
        }
        if value.len() > LONGEST_VALUE || !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return refused("a value has at most 4096 bytes of visible ASCII");
        }
        if !names.insert(name.clone()) {
            return refused("given twice");
        }
        let is_set = |set: &&str| match set.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == **set,
        };
        let is_sent = sent.get(&name).is_some() && name != BETA;
        if SET.iter().any(is_set) || is_sent {
            return refused("set by the client");
        }
        match sent.get(&name).map(str::to_owned) {
            Some(before) => sent.set(BETA, &format!("{before},{value}")),
            None => sent.extend([(name, value.clone())]),
        }
    }
    Ok(())
}
