//! Keys that a server sends back in another form, or in pieces, and the recording of it.

use llm_client::{BlockKind, Reply, ToolInput};
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::memory::nobody;

/// Every text in a JSON text: its strings and names, and those of JSON texts inside of strings.
fn texts_of(json: &str) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        let mut add = |text: &str| {
            found.push(text.to_owned());
            if let Ok(inner) = serde_json::from_str(text) {
                walk(&inner, found);
            }
        };
        match value {
            Value::String(text) => add(text),
            Value::Array(list) => list.iter().for_each(|value| walk(value, found)),
            Value::Object(fields) => {
                fields.keys().for_each(|name| add(name));
                fields.values().for_each(|value| walk(value, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&serde_json::from_str(json).unwrap(), &mut found);
    found
}

/// A cassette of calls to a server, asked with [`KEY`].
struct Recording {
    wire: Wire,
    path: std::path::PathBuf,
    _folder: TempDir,
}

impl Recording {
    fn new(wire: Wire) -> Self {
        let folder = tempdir().unwrap();
        Self {
            wire,
            path: folder.path().join("tape.jsonl"),
            _folder: folder,
        }
    }

    fn client(
        &self,
        answer: impl FnMut(&llm_client::provider::HttpRequest) -> HttpResponse + Send + 'static,
    ) -> Client {
        let mut answer = answer;
        let transport = server(move |request| Ok(answer(request)));
        let client = client(self.wire, "http://127.0.0.1:1", KEY).transport(transport);
        client.record(Cassette::new(&self.path)).build().unwrap()
    }

    /// Records a plain call and a stream that the server answers with this.
    async fn both(&self, content_type: &str, body: &str) {
        let (kind, body) = (content_type.to_owned(), body.to_owned());
        let headers = self.wire.request_id();
        let client = self.client(move |_| {
            let kind = [("content-type", kind.as_str()), (headers, KEY)];
            response(200, &kind, body.clone())
        });
        let _ = client.complete(&request()).await;
        let _ = read_stream(&client, &request()).await;
    }

    /// The file, after a search for the key in every text that can be read out of it.
    fn clean_text(&self) -> String {
        let file = fs::read_to_string(&self.path).unwrap();
        for line in file.lines() {
            clean(line, KEY, "cassette");
            for text in texts_of(line) {
                assert!(!text.contains(KEY), "{text}\nin {line}");
            }
        }
        file
    }

    fn replaying(&self) -> Client {
        let builder = client(self.wire, "http://127.0.0.1:1", KEY).transport(nobody());
        builder.replay(Cassette::new(&self.path)).build().unwrap()
    }
}

/// Ways to write a text in a JSON string, as the server of a key may.
fn forms(text: &str) -> Vec<String> {
    let quoted = |text: &str| {
        let quoted = json!(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let escaped = text.chars().fold(String::new(), |text, c| {
        text + &format!("\\u{:04x}", c as u32)
    });
    vec![
        quoted(text),
        quoted(text).replace('+', "\\u002b"),
        quoted(text).replace('/', "\\/"),
        escaped.to_uppercase().replace("\\U", "\\u"),
        // In the arguments of a tool, which are a JSON text themselves.
        quoted(&quoted(text)),
        quoted(&escaped),
        quoted(&quoted(&escaped)),
        escaped,
    ]
}

#[tokio::test]
async fn a_name_of_an_event_is_cleaned() {
    for wire in BOTH {
        let recording = Recording::new(wire);
        let mut names = forms(KEY);
        names.push(KEY.to_owned());
        for name in &names {
            let event = format!("event: {name}\ndata: {{\"type\":\"news\"}}\n\n");
            let body = event + &wire.events(&hello()).concat();
            recording.both("text/event-stream", &body).await;
        }
        let text = recording.clean_text();
        assert_eq!(text.lines().count(), 2 * names.len());
        assert!(text.contains("\"event\":\"[redacted]\""));
    }
}

#[tokio::test]
async fn an_escaped_key_is_hidden_in_every_place_of_a_reply() {
    for wire in BOTH {
        let recording = Recording::new(wire);
        let mut replies = 0;
        for form in forms(KEY) {
            let holding = |text: &str| text.replace("MARK", &form);
            let named = format!("{{\"x MARK\":1,{}", &wire.json(&hello())[1..]);
            let event = "data: {\"error\":{\"message\":\"MARK\"}}\n\n".to_owned();
            for (kind, body) in [
                (
                    "application/json",
                    wire.json(&CannedReply::text("a MARK b")),
                ),
                ("application/json", named),
                ("application/json", wire.error("MARK")),
                ("text/plain", "no JSON: \"MARK\"".to_owned()),
                (
                    "text/event-stream",
                    wire.events(&CannedReply::text("MARK")).concat(),
                ),
                ("text/event-stream", event),
            ] {
                recording.both(kind, &holding(&body)).await;
                replies += 2;
            }
        }
        let text = recording.clean_text();
        assert_eq!(text.lines().count(), replies);
    }
}

#[tokio::test]
async fn a_text_without_the_key_is_recorded_as_it_came() {
    for wire in BOTH {
        let recording = Recording::new(wire);
        let body = wire.json(&CannedReply::text("MARK"));
        let body = body.replace("MARK", r"q7\/Zx\u00229 \\u0071 \ud83d\ude00 \n C:\\users");
        recording.both("application/json", &body).await;
        assert!(recording.clean_text().contains(&body));
    }
}

/// A part of a reply that a stream brings in pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Text,
    Thinking,
    Arguments,
}

fn events_of(wire: Wire, part: Part, pieces: &[&str]) -> String {
    let mut canned = CannedReply::text("");
    match part {
        Part::Text => canned.text = "AB".into(),
        Part::Thinking => canned.thinking = Some("AB".into()),
        Part::Arguments => canned = canned.call("c1", "look", "AB"),
    }
    let mut body = String::new();
    for event in wire.events(&canned) {
        // The canned pieces are `A` and `B`, or both at once.
        if event.contains(":\"A\"") || event.contains(":\"AB\"") {
            for piece in pieces {
                let piece = json!(piece).to_string();
                body += &event.replace("\"AB\"", &piece).replace("\"A\"", &piece);
            }
        } else if !event.contains(":\"B\"") {
            body += &event;
        }
    }
    body
}

fn part_of(reply: &Reply, part: Part) -> String {
    let found = reply
        .content
        .iter()
        .find_map(|block| match (&block.kind, part) {
            (BlockKind::Text { text }, Part::Text)
            | (BlockKind::Thinking { text, .. }, Part::Thinking) => Some(text.clone()),
            (
                BlockKind::ToolUse {
                    input: ToolInput::Json(raw),
                    ..
                },
                Part::Arguments,
            ) => Some(raw.get().to_owned()),
            _ => None,
        });
    found.unwrap_or_else(|| panic!("{part:?} of {reply:?}"))
}

/// All ways to cut a text into three pieces that are not empty.
fn splits(text: &str) -> impl Iterator<Item = [&str; 3]> {
    (1..text.len()).flat_map(move |one| {
        (one + 1..text.len()).map(move |two| [&text[..one], &text[one..two], &text[two..]])
    })
}

#[tokio::test]
async fn a_key_in_three_deltas_is_hidden_however_it_is_cut() {
    const SHORT: &str = r#"q7/Zx"9\w+="#;
    for wire in BOTH {
        for part in [Part::Text, Part::Thinking, Part::Arguments] {
            let (before, after) = match part {
                Part::Arguments => ("{\"k\":\"", "\"}"),
                _ => ("is it ", "? yes"),
            };
            let written = match part {
                Part::Arguments => vec![forms(SHORT)[1].clone(), forms(SHORT)[7].clone()],
                _ => vec![SHORT.to_owned()],
            };
            // Of the form that is all escapes, with its two thousand ways, some.
            let some = |key: &String| if key.len() > 20 { 13 } else { 1 };
            let cuts = written
                .iter()
                .flat_map(|key| splits(key).step_by(some(key)));
            let cuts: Vec<_> = cuts.collect();
            let bodies: Vec<_> = cuts
                .iter()
                .map(|[one, two, three]| {
                    let (one, three) = (format!("{before}{one}"), format!("{three}{after}"));
                    events_of(wire, part, &[&one, two, &three])
                })
                .collect();
            let folder = tempdir().unwrap();
            let path = folder.path().join("tape.jsonl");
            let count = bodies.len();
            let mut bodies = bodies.into_iter();
            let transport = server(move |_| {
                let kind = [("content-type", "text/event-stream")];
                Ok(response(200, &kind, bodies.next().unwrap()))
            });
            let recording = client(wire, "http://127.0.0.1:1", SHORT).transport(transport);
            let recording = recording.record(Cassette::new(&path)).build().unwrap();
            let whole = format!("{before}{SHORT}{after}");
            for _ in 0..count {
                let live = recording.complete(&request()).await.unwrap();
                // The caller gets what the model said.
                if part != Part::Arguments {
                    assert_eq!(part_of(&live, part), whole);
                }
            }
            drop(recording);
            let replaying = client(wire, "http://127.0.0.1:1", SHORT).replay(Cassette::new(&path));
            let replaying = replaying.build().unwrap();
            for cut in cuts {
                let reply = replaying.complete(&request()).await.unwrap();
                let hidden = format!("{before}[redacted]{after}");
                assert_eq!(part_of(&reply, part), hidden, "{wire:?} {cut:?}");
            }
        }
    }
}

/// The texts of one field in the recorded events of a cassette's only line.
fn pieces_of(recording: &Recording, path: &str) -> Vec<String> {
    let line: Value = serde_json::from_str(recording.clean_text().trim()).unwrap();
    let events = line["response"]["events"].as_array().unwrap();
    let data = events.iter().filter_map(|event| event["data"].as_str());
    data.filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .filter_map(|data| Some(data.pointer(path)?.as_str()?.to_owned()))
        .collect()
}

#[tokio::test]
async fn the_first_delta_is_marked_and_the_others_are_empty() {
    let [one, two, three] = [&KEY[..5], &KEY[5..6], &KEY[6..]];
    for (wire, path) in [
        (Wire::Anthropic, "/delta/text"),
        (Wire::Openai, "/choices/0/delta/content"),
    ] {
        let recording = Recording::new(wire);
        let body = events_of(wire, Part::Text, &["a", one, "", two, three, "b"]);
        let kind = [("content-type", "text/event-stream")];
        let asking = recording.client(move |_| response(200, &kind, body.clone()));
        asking.complete(&request()).await.unwrap();
        drop(asking);
        let mut pieces = pieces_of(&recording, path);
        pieces.drain(..pieces.len() - 6);
        assert_eq!(pieces, ["a", "[redacted]", "", "", "", "b"], "{wire:?}");
    }
}

#[tokio::test]
async fn deltas_of_two_blocks_that_alternate_are_joined_for_each() {
    let wire = Wire::Openai;
    let recording = Recording::new(wire);
    let call = |index: usize, arguments: &str| {
        let call = json!({"index": index, "id": format!("c{index}"), "type": "function",
            "function": {"name": "look", "arguments": arguments}});
        let choice = json!({"index": 0, "delta": {"tool_calls": [call]}});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let (one, two) = KEY.split_at(9);
    let inner = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
    let mut body = call(0, "{\"a\":\"") + &call(1, "{\"b\":\"");
    body += &(call(0, &inner(one)) + &call(1, &inner(one)));
    body += &(call(1, &inner(two)) + &call(0, &inner(two)));
    body += &(call(0, "\"}") + &call(1, "\"}"));
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    body.extend(["data: ", &end.to_string(), "\n\ndata: [DONE]\n\n"]);
    let kind = [("content-type", "text/event-stream")];
    let asking = recording.client(move |_| response(200, &kind, body.clone()));
    asking.complete(&request()).await.unwrap();
    drop(asking);
    recording.clean_text();
    let reply = recording.replaying().complete(&request()).await.unwrap();
    let inputs = reply.tool_uses().map(|block| match &block.kind {
        BlockKind::ToolUse {
            input: ToolInput::Json(raw),
            ..
        } => raw.get().to_owned(),
        other => panic!("{other:?}"),
    });
    let inputs: Vec<_> = inputs.collect();
    assert_eq!(inputs, ["{\"a\":\"[redacted]\"}", "{\"b\":\"[redacted]\"}"]);
}

#[tokio::test]
async fn a_block_that_starts_with_a_part_of_the_key_is_joined_with_its_deltas() {
    let wire = Wire::Anthropic;
    let recording = Recording::new(wire);
    let (one, two) = KEY.split_at(9);
    let body = events_of(wire, Part::Text, &[two]);
    let empty = json!({"type": "text", "text": ""}).to_string();
    let started = body.replace(&empty, &json!({"type": "text", "text": one}).to_string());
    assert_ne!(body, started);
    let kind = [("content-type", "text/event-stream")];
    let asking = recording.client(move |_| response(200, &kind, started.clone()));
    assert_eq!(asking.complete(&request()).await.unwrap().text(), KEY);
    drop(asking);
    recording.clean_text();
    let reply = recording.replaying().complete(&request()).await.unwrap();
    assert_eq!(reply.text(), "[redacted]");
}
