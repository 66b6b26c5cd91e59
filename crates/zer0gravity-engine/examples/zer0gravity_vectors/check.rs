//! Compares a file of vectors with the engine. The tests include this file, too.

#[path = "compat.rs"]
pub mod compat;
#[expect(dead_code, reason = "the engine's readers need more of it")]
#[path = "../../src/judge/json.rs"]
mod json;
#[path = "number.rs"]
mod number;

use serde_json::{Map, Value, json};
use zer0gravity_engine::judge::reply_text;
use zer0gravity_engine::judge::score::{
    TokenPair, compression_percent, compression_ratio, learnability, score_all, token_efficiency,
};
use zer0gravity_engine::result::Details;
use zer0gravity_engine::text::js_trim;

use compat::{CompatCard, parse_judge_reply_compat, written};
use number::js_number;

/// One array of the file.
pub struct Group {
    /// The key of the array.
    pub name: String,
    /// The number of entries.
    pub total: usize,
    /// One line for each entry whose result differs.
    pub failures: Vec<String>,
}

impl Group {
    /// The number of entries whose result is the expected one.
    pub fn passed(&self) -> usize {
        self.total - self.failures.len()
    }
}

type Entry = Map<String, Value>;
type Check = fn(&Entry, &Map<String, Value>) -> Result<(), String>;

/// The groups of the file in the order of the format, and the skipped keys that the format does not have.
pub fn groups(file: &Value) -> Result<(Vec<Group>, Vec<String>), String> {
    const CHECKS: [(&str, Check); 10] = [
        ("tokenEfficiency", token_efficiency_entry),
        ("learnability", learnability_entry),
        ("judgeSemantic", judge_semantic_entry),
        ("judgeImplementability", judge_implementability_entry),
        ("scoreAll", score_all_entry),
        ("countTokensFallback", fallback_entry),
        ("encodeBlocks", encode_entry),
        ("decodeBlocks", decode_entry),
        ("rows", published_entry),
        ("earlier", published_entry),
    ];
    // `notes` is text, and `requestShape` tells of requests that the engine does not send.
    const TOLD: [&str; 6] = [
        "schema_version",
        "source",
        "notes",
        "requestShape",
        "counts",
        "split",
    ];

    let file = file.as_object().ok_or("the file is not a JSON object")?;
    if file.get("schema_version") != Some(&json!(1)) {
        return Err("`schema_version` is not 1".to_owned());
    }
    let known = |name: &str| TOLD.contains(&name) || CHECKS.iter().any(|(known, _)| *known == name);
    let skipped = file.keys().filter(|name| !known(name)).cloned().collect();
    let mut groups = Vec::new();
    for (name, check) in CHECKS {
        let Some(entries) = file.get(name) else {
            continue;
        };
        let entries = entries
            .as_array()
            .ok_or_else(|| format!("`{name}` is not an array"))?;
        let counted = file.get("counts").and_then(|counts| counts.get(name));
        if counted.is_some_and(|count| *count != json!(entries.len())) {
            return Err(format!("`{name}` has not as many entries as `counts` says"));
        }
        let failures = entries.iter().filter_map(|entry| {
            let checked = entry
                .as_object()
                .ok_or_else(|| "not an object".to_owned())
                .and_then(|entry| check(entry, file));
            checked
                .err()
                .map(|error| format!("{name}: {entry}: {error}"))
        });
        groups.push(Group {
            name: name.to_owned(),
            total: entries.len(),
            failures: failures.collect(),
        });
    }
    Ok((groups, skipped))
}

/// `found` against the value of `key`, where `"NaN"` and `"-0"` stand for these numbers.
fn number(entry: &Entry, key: &str, found: f64) -> Result<(), String> {
    let expected = match entry.get(key) {
        None => return Err(format!("`{key}` is missing")),
        Some(Value::String(name)) if name == "NaN" => Value::Null,
        Some(Value::String(name)) if name == "-0" => json!(0),
        Some(expected) => expected.clone(),
    };
    same(key, &expected, &written(found))
}

fn same(what: &str, expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what} should be {expected}, is {found}"))
    }
}

fn text<'a>(entry: &'a Entry, key: &str) -> Result<&'a str, String> {
    let value = entry.get(key).and_then(Value::as_str);
    value.ok_or_else(|| format!("`{key}` is not a text"))
}

fn blocks(entry: &Entry) -> Result<String, String> {
    let blocks = entry.get("blocks").and_then(Value::as_array);
    Ok(reply_text(blocks.ok_or("`blocks` is not an array")?))
}

fn tokens(entry: &Entry) -> Result<TokenPair, String> {
    let tokens = |key: &str| {
        let value = entry.get(key).and_then(Value::as_i64);
        value.ok_or_else(|| format!("`{key}` is not an integer"))
    };
    Ok(TokenPair {
        original: tokens("originalTokens")?,
        encoded: tokens("encodedTokens")?,
    })
}

/// The percent, also as a result holds it.
fn percent(entry: &Entry, found: f64) -> Result<(), String> {
    number(entry, "compressionPercent", found)?;
    let mut details = Details::default();
    details.compression_percent = Some(found);
    let details = json!(details);
    same(
        "compressionPercent in a result",
        &written(found),
        &details["compressionPercent"],
    )
}

fn token_efficiency_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let tokens = tokens(entry)?;
    number(entry, "score", token_efficiency(tokens).into())?;
    number(entry, "compressionRatioField", compression_ratio(tokens))?;
    percent(entry, compression_percent(tokens))
}

fn learnability_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let semantic = entry.get("semantic").ok_or("`semantic` is missing")?;
    // `js_number` makes NaN of the text "NaN".
    number(entry, "learnability", learnability(js_number(semantic)))
}

fn judge(entry: &Entry, max: u8) -> Result<(String, Value), String> {
    let reply = if entry.contains_key("blocks") {
        blocks(entry)?
    } else {
        text(entry, "reply")?.to_owned()
    };
    let read = parse_judge_reply_compat(&reply, max);
    number(entry, "score", read.score)?;
    Ok((reply, read.reasoning))
}

fn judge_semantic_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let (_, reasoning) = judge(entry, 40)?;
    let expected = entry.get("reasoning").ok_or("`reasoning` is missing")?;
    same("reasoning", expected, &reasoning)
}

fn judge_implementability_entry(entry: &Entry, file: &Map<String, Value>) -> Result<(), String> {
    let (reply, reasoning) = judge(entry, 5)?;
    if entry.get("reasoningSameAsSemantic") != Some(&json!(true)) {
        return Ok(());
    }
    let semantic = file.get("judgeSemantic").and_then(Value::as_array);
    let twin = semantic
        .and_then(|entries| entries.iter().find(|twin| twin["reply"] == json!(reply)))
        .ok_or("there is no such reply in `judgeSemantic`")?;
    same("reasoning", &twin["reasoning"], &reasoning)
}

fn score_all_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let raw = |key: &str| {
        let value = entry.get(key).map(js_number);
        value.ok_or_else(|| format!("`{key}` is missing"))
    };
    let tokens = tokens(entry)?;
    let card = CompatCard::new(
        tokens,
        raw("judgeSemanticScore")?,
        raw("judgeImplementabilityScore")?,
    );
    let scores = entry
        .get("scores")
        .and_then(Value::as_object)
        .ok_or("`scores` is not an object")?;
    for (name, points) in card.scores {
        number(scores, name, points)?;
    }
    number(entry, "total", card.total)?;
    percent(entry, compression_percent(tokens))?;
    let expected = entry.get("asJson").ok_or("`asJson` is missing")?;
    let scores = card
        .scores
        .map(|(name, points)| (name.to_owned(), written(points)));
    let found = json!({"scores": Map::from_iter(scores), "total": written(card.total)});
    // Compared as text: 40 and 40.0 are not the same there.
    same(
        "asJson",
        &json!(expected.to_string()),
        &json!(found.to_string()),
    )
}

/// The estimate of the reference without a count: a quarter of the UTF-16 units, rounded up.
fn fallback_tokens_chars4(text: &str) -> usize {
    text.encode_utf16().count().div_ceil(4)
}

fn fallback_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let text = text(entry, "text")?;
    let blank = js_trim(text).is_empty();
    let tokens = if blank {
        0
    } else {
        fallback_tokens_chars4(text)
    };
    number(entry, "tokensWhenApiFails", tokens as f64)?;
    let called = entry.get("apiCalled").ok_or("`apiCalled` is missing")?;
    same("apiCalled", called, &json!(!blank))
}

fn encode_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let expected = entry.get("encodedText").ok_or("`encodedText` is missing")?;
    same("encodedText", expected, &json!(blocks(entry)?))
}

fn decode_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let expected = entry.get("decodedText").ok_or("`decodedText` is missing")?;
    same("decodedText", expected, &json!(js_trim(&blocks(entry)?)))
}

/// A stored result: everything follows from the tokens and the judges' points.
fn published_entry(entry: &Entry, _: &Entry) -> Result<(), String> {
    let scores = entry.get("scores").ok_or("`scores` is missing")?;
    let points = |key: &str| {
        let value = scores.get(key).and_then(Value::as_u64);
        let value = value.and_then(|value| u8::try_from(value).ok());
        value.ok_or_else(|| format!("`{key}` is not a number of points"))
    };
    let tokens = tokens(entry)?;
    let card = score_all(
        tokens,
        points("semanticPreservation")?,
        points("implementability")?,
    );
    same("scores", scores, &json!(card.scores))?;
    number(entry, "total", card.total.into())?;
    number(entry, "compressionRatio", compression_ratio(tokens))?;
    percent(entry, card.compression_percent)
}
