use std::fmt;
use std::io::Write as _;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _, Serialize};
use sha2::{Digest as _, Sha256};

use super::event::{Event, Line};

/// The text before a line's chain.
const CHAIN_FIELD: &str = ",\"chain\":\"";
/// The number of hexadecimal digits of a chain.
const CHAIN_DIGITS: usize = 32;

/// Appends the line of an event and returns its chain. `previous` is the chain of the line before, or the run's id.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    timestamp: &str,
    seq: u64,
    event: &Event,
    previous: &str,
) -> String {
    #[derive(Serialize)]
    struct ChainedLine<'a> {
        r#type: &'static str,
        timestamp: &'a str,
        seq: u64,
        #[serde(flatten)]
        event: &'a Event,
    }
    let begin = out.len();
    let whole = ChainedLine {
        r#type: event.kind(),
        timestamp,
        seq,
        event,
    };
    // A Vec takes everything, and every map of an event has texts as keys.
    let _ = serde_json::to_writer(&mut *out, &whole);
    out.pop();
    let chain = chain(previous, &out[begin..]);
    let _ = writeln!(out, "{CHAIN_FIELD}{chain}\"}}");
    chain
}

/// Returns the chain of `line`, which ends before its chain field: a hash of `previous` and the line.
pub(super) fn chain(previous: &str, line: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(previous);
    hash.update(line);
    hex::encode(&hash.finalize()[..CHAIN_DIGITS / 2])
}

/// Returns the part of a line that its chain is computed from; `None` if the line does not end with a chain.
pub(super) fn before_chain(line: &[u8]) -> Option<&[u8]> {
    let end = CHAIN_FIELD.len() + CHAIN_DIGITS + "\"}".len();
    let (before, rest) = line.split_at_checked(line.len().checked_sub(end)?)?;
    (rest.starts_with(CHAIN_FIELD.as_bytes()) && rest.ends_with(b"\"}")).then_some(before)
}

/// The fields of every line.
#[derive(Deserialize)]
pub(super) struct Head {
    pub r#type: String,
    pub timestamp: String,
    pub seq: u64,
    pub chain: String,
}

impl Head {
    /// Returns the line of this event.
    pub(super) fn with(self, event: Event) -> Line {
        Line {
            timestamp: self.timestamp,
            seq: self.seq,
            event,
            chain: self.chain,
        }
    }
}

/// Returns the head and the event of a line in one pass; `None` unless its fields have the order in which [`encode`] writes them and its
/// type is known. [`Head`] and [`decode`] accept all of these lines, too, and return the errors of the others.
pub(super) fn decode_in_order(line: &[u8]) -> Option<(Head, Event)> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let read = json.deserialize_map(OrderedLine).ok()?;
    json.end().ok()?;
    Some(read)
}

/// The visitor of a line whose first fields are type, time and number.
struct OrderedLine;

impl<'de> Visitor<'de> for OrderedLine {
    type Value = (Head, Event);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line in the order of the journal")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        fn field<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
            map: &mut A,
            name: &str,
        ) -> Result<T, A::Error> {
            match map.next_key::<&str>()? {
                Some(found) if found == name => map.next_value(),
                _ => Err(A::Error::custom("another order")),
            }
        }
        fn body<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
            rest: &mut BodyFields<A>,
        ) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(rest))
        }
        let kind: String = field(&mut map, "type")?;
        let timestamp = field(&mut map, "timestamp")?;
        let seq = field(&mut map, "seq")?;
        let mut rest = BodyFields { map, chain: None };
        let event = match kind.as_str() {
            "experiment_start" => Event::ExperimentStart(body(&mut rest)?),
            "round_start" => Event::RoundStart(body(&mut rest)?),
            "mind_invocation" => Event::MindInvocation(body(&mut rest)?),
            "round_end" => Event::RoundEnd(body(&mut rest)?),
            "experiment_end" => Event::ExperimentEnd(body(&mut rest)?),
            "run_interrupted" => Event::RunInterrupted(body(&mut rest)?),
            "run_resumed" => Event::RunResumed(body(&mut rest)?),
            "error" => Event::Error(body(&mut rest)?),
            "forked" => Event::Forked(body(&mut rest)?),
            "intervention" => Event::Intervention(body(&mut rest)?),
            _ => return Err(A::Error::custom("another type")),
        };
        let chain = rest.chain.ok_or_else(|| A::Error::missing_field("chain"))?;
        let head = Head {
            r#type: kind,
            timestamp,
            seq,
            chain,
        };
        Ok((head, event))
    }
}

/// The fields of an event, without the chain, which is set aside.
struct BodyFields<A> {
    map: A,
    chain: Option<String>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut BodyFields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key::<&str>()? {
                None => return Ok(None),
                Some("chain") if self.chain.is_none() => self.chain = Some(self.map.next_value()?),
                Some("type" | "timestamp" | "seq" | "chain") => {
                    return Err(A::Error::custom("a field twice"));
                }
                Some(name) => {
                    return seed
                        .deserialize(BorrowedStrDeserializer::new(name))
                        .map(Some);
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Returns the event of a line; `None` for a type that this version does not know.
pub(super) fn decode(head: Head, line: &[u8]) -> Result<Option<Line>, String> {
    fn body<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
        serde_json::from_slice(line).map_err(|_| {
            // Once more, slowly, to learn in which field.
            let mut json = serde_json::Deserializer::from_slice(line);
            let read: Result<T, _> = serde_path_to_error::deserialize(&mut json);
            read.err()
                .map_or_else(String::new, |error| error.to_string())
        })
    }
    let event = match head.r#type.as_str() {
        "experiment_start" => Event::ExperimentStart(body(line)?),
        "round_start" => Event::RoundStart(body(line)?),
        "mind_invocation" => Event::MindInvocation(body(line)?),
        "round_end" => Event::RoundEnd(body(line)?),
        "experiment_end" => Event::ExperimentEnd(body(line)?),
        "run_interrupted" => Event::RunInterrupted(body(line)?),
        "run_resumed" => Event::RunResumed(body(line)?),
        "error" => Event::Error(body(line)?),
        "forked" => Event::Forked(body(line)?),
        "intervention" => Event::Intervention(body(line)?),
        _ => return Ok(None),
    };
    Ok(Some(head.with(event)))
}

/// Returns the chain that is written after the first `before` bytes of a line.
pub(super) fn chain_of(line: &[u8], before: usize) -> String {
    let from = before + CHAIN_FIELD.len();
    String::from_utf8_lossy(&line[from..from + CHAIN_DIGITS]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::RoundStart;
    use crate::pool::Round;

    const LINE: &str = r#"{"type":"round_start","timestamp":"2026-01-02T03:04:05.678Z","seq":7,"round":3,"pool_size":5,"active_pool_size":4,"new":{"seq":1},"chain":"c"}"#;

    fn in_two_passes(line: &str) -> Option<Line> {
        let head: Head = serde_json::from_slice(line.as_bytes()).ok()?;
        decode(head, line.as_bytes()).ok()?
    }

    #[test]
    fn a_line_in_order_is_read_in_one_pass_and_gives_what_two_give() {
        let (head, event) = decode_in_order(LINE.as_bytes()).unwrap();
        assert_eq!(
            event,
            Event::RoundStart(RoundStart {
                round: Round(3),
                pool_size: 5,
                active_pool_size: 4,
            })
        );
        assert_eq!(Some(head.with(event)), in_two_passes(LINE));
    }

    #[test]
    fn a_line_that_two_passes_refuse_is_not_read_in_one() {
        let changes = [
            (r#","chain":"c""#, ""),
            (r#","chain":"c""#, r#","chain":"c","chain":"c""#),
            (r#","chain":"c""#, r#","seq":7,"chain":"c""#),
            (r#","chain":"c""#, r#","type":"round_start","chain":"c""#),
            (r#""round":3"#, r#""round":3,"round":3"#),
            (r#""round":3,"#, ""),
            (r#""round":3"#, r#""round":"3""#),
            (r#""seq":7"#, r#""seq":-7"#),
            (r#""c"}"#, r#""c"} {}"#),
        ];
        for (from, to) in changes {
            let line = LINE.replacen(from, to, 1);
            assert_ne!(line, LINE);
            assert_eq!(in_two_passes(&line), None, "{line}");
            assert!(decode_in_order(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn a_line_in_another_order_or_spelling_is_left_to_two_passes() {
        let changes = [
            (
                r#""type":"round_start","#,
                "",
                r#","type":"round_start","chain""#,
            ),
            (r#""round""#, r#""r\u006fund""#, r#","chain""#),
        ];
        for (from, to, end) in changes {
            let line = LINE.replacen(from, to, 1).replacen(r#","chain""#, end, 1);
            assert!(decode_in_order(line.as_bytes()).is_none(), "{line}");
            assert_eq!(in_two_passes(&line), in_two_passes(LINE), "{line}");
        }
    }
}
