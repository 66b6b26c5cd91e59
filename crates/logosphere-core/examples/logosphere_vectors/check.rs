//! The comparison of a file of vectors with the engine. Shared with the tests, which include this file.

use logosphere_core::format::{ParseMode, Parsed, parse};
use logosphere_core::import::parse_reference;
use logosphere_core::pool::{ALGORITHM, ActiveView, Origin, Pool, Retention, sample_rng};
use logosphere_core::{MindId, Round};
use serde_json::{Map, Value, json};

/// All vectors of a file that check the same thing.
pub struct Group {
    /// `legacy`, `strict`, `lenient`, `u64` or `draws`.
    pub name: String,
    /// The number of vectors.
    pub total: usize,
    /// One line for each vector that is not as the file says.
    pub failures: Vec<String>,
}

impl Group {
    /// The number of vectors that agree with the file.
    pub fn passed(&self) -> usize {
        self.total - self.failures.len()
    }

    fn of(name: &str, checked: impl Iterator<Item = Result<(), String>>) -> Self {
        let mut group = Self {
            name: name.to_owned(),
            total: 0,
            failures: Vec::new(),
        };
        for result in checked {
            group.total += 1;
            group
                .failures
                .extend(result.err().map(|error| format!("{name}: {error}")));
        }
        group
    }
}

type Entry = Map<String, Value>;

type Reader = fn(&str) -> Parsed;

const MODES: [(&str, Reader, &[&str]); 3] = [
    (
        "legacy",
        parse_reference,
        &["thinking", "messages", "completed", "signature"],
    ),
    (
        "strict",
        |raw| parse(raw, ParseMode::Strict),
        &["thinking", "messages", "completed", "end", "reason"],
    ),
    (
        "lenient",
        |raw| parse(raw, ParseMode::Lenient),
        &[
            "thinking",
            "messages",
            "completed",
            "signature",
            "end",
            "reason",
            "notes",
        ],
    ),
];

/// Every group of the file in the order of the format, or what is wrong with the file. There is at least one vector.
pub fn groups(file: &Value) -> Result<Vec<Group>, String> {
    let file = file.as_object().ok_or("the file is no JSON object")?;
    if file.get("schema_version") != Some(&json!(1)) {
        return Err("`schema_version` is not 1".to_owned());
    }
    // What nobody checks could say anything.
    let known = |key: &str| ["vectors", "draws", "u64"].contains(&key);
    let unknown =
        (file.iter()).find(|(key, value)| (value.is_array() || value.is_object()) && !known(key));
    if let Some((key, _)) = unknown {
        return Err(format!("`{key}` is no group of the format"));
    }
    let mut groups = Vec::new();
    if let Some(vectors) = array(file, "vectors")? {
        groups.extend(parse_groups(&vectors)?);
    }
    if known_sampler(file)? {
        if let Some(stream) = file.get("u64") {
            let stream = stream.as_object().ok_or("`u64` is no object")?;
            groups.push(Group::of("u64", values(stream)?.into_iter()));
        }
        if let Some(draws) = array(file, "draws")? {
            groups.push(Group::of("draws", draws.iter().map(|entry| draw(entry))));
        }
    }
    if groups.iter().all(|group| group.total == 0) {
        return Err("the file has no vectors".to_owned());
    }
    Ok(groups)
}

fn array<'a>(file: &'a Entry, key: &str) -> Result<Option<Vec<&'a Entry>>, String> {
    let Some(entries) = file.get(key) else {
        return Ok(None);
    };
    let entries = entries
        .as_array()
        .ok_or_else(|| format!("`{key}` is no array"))?;
    if entries.is_empty() {
        return Err(format!("`{key}` is empty"));
    }
    let entries = entries.iter().map(|entry| {
        let entry = entry.as_object();
        entry.ok_or_else(|| format!("an entry of `{key}` is no object"))
    });
    entries.collect::<Result<_, _>>().map(Some)
}

/// Whether the file is about samples, by an algorithm that is known.
fn known_sampler(file: &Entry) -> Result<bool, String> {
    if !file.contains_key("draws") && !file.contains_key("u64") {
        return Ok(false);
    }
    match file.get("algorithm") {
        Some(algorithm) if *algorithm == json!(ALGORITHM) => Ok(true),
        _ => Err(format!("`algorithm` is not {ALGORITHM}")),
    }
}

fn parse_groups(vectors: &[&Entry]) -> Result<Vec<Group>, String> {
    for vector in vectors {
        let id = vector.get("id").and_then(Value::as_str);
        let id = id.ok_or("a vector has no `id`")?;
        if !MODES.iter().any(|(name, ..)| vector.contains_key(*name)) {
            return Err(format!("vector {id:?} has none of the three modes"));
        }
        let known = |key: &str| MODES.iter().any(|(name, ..)| *name == key);
        let objects = vector.iter().filter(|(_, value)| value.is_object());
        if let Some((key, _)) = objects.into_iter().find(|(key, _)| !known(key)) {
            return Err(format!("vector {id:?}: `{key}` is no mode"));
        }
    }
    let groups = MODES.map(|(name, reader, fields)| {
        let of_mode = (vectors.iter()).filter_map(|vector| Some((vector, vector.get(name)?)));
        Group::of(
            name,
            of_mode.map(|(vector, expected)| {
                let checked = vector_in_mode(vector, reader, expected, fields);
                checked.map_err(|error| format!("{}: {error}", vector["id"]))
            }),
        )
    });
    Ok(groups.into_iter().filter(|group| group.total > 0).collect())
}

fn vector_in_mode(
    vector: &Entry,
    reader: Reader,
    expected: &Value,
    fields: &[&str],
) -> Result<(), String> {
    let input = vector.get("input").and_then(Value::as_str);
    let found = read(&reader(input.ok_or("`input` is no text")?));
    let expected = expected.as_object().ok_or("the mode is no object")?;
    if let Some(missing) = fields.iter().find(|field| !expected.contains_key(**field)) {
        return Err(format!("`{missing}` is missing"));
    }
    for (field, expected) in expected {
        let found = found.get(field);
        let found = found.ok_or_else(|| format!("`{field}` is no field of an answer"))?;
        if expected != found {
            return Err(format!("`{field}` should be {expected}, is {found}"));
        }
    }
    Ok(())
}

fn read(parsed: &Parsed) -> Value {
    json!({
        "thinking": parsed.thinking,
        "messages": parsed.messages,
        "completed": parsed.completed,
        "signature": parsed.signature,
        "end": parsed.end,
        "reason": parsed.reason,
        "notes": parsed.notes,
        "lost_blocks": parsed.lost_blocks,
        "lost_chars": parsed.lost_chars,
    })
}

/// The numbers of one stream, each checked.
fn values(stream: &Entry) -> Result<Vec<Result<(), String>>, String> {
    let values = stream.get("values").and_then(Value::as_array);
    let values = values.ok_or("`u64` has no `values`")?;
    let [seed, round, mind] = ["seed", "round", "mind"].map(|key| whole(stream, key));
    let (round, mind) = (narrow("round", round?)?, narrow("mind", mind?)?);
    let mut rng = sample_rng(seed?, Round(round), MindId(mind));
    let checked = values.iter().enumerate().map(|(place, expected)| {
        let found = json!(rng.next_u64());
        if *expected == found {
            Ok(())
        } else {
            Err(format!("value {place} should be {expected}, is {found}"))
        }
    });
    Ok(checked.collect())
}

fn draw(entry: &Entry) -> Result<(), String> {
    let shown = || json!(entry).to_string();
    let [seed, round, mind, k, active] =
        ["seed", "round", "mind", "k", "active"].map(|key| whole(entry, key));
    let active = active? as usize;
    let (round, mind) = (narrow("round", round?)?, narrow("mind", mind?)?);
    let mut rng = sample_rng(seed?, Round(round), MindId(mind));
    let found = json!(view(active)?.sample(k? as usize, &mut rng));
    match entry.get("offsets") {
        None => Err(format!("`offsets` is missing: {}", shown())),
        Some(expected) if *expected == found => Ok(()),
        Some(_) => Err(format!("{} draws {found}", shown())),
    }
}

/// Returns all messages of a pool with `count` messages.
fn view(active: usize) -> Result<ActiveView, String> {
    let mut pool = Pool::new(active.max(1), Retention::All);
    for _ in 0..active {
        let added = pool.add("m", Origin::Seed);
        added.map_err(|error| error.to_string())?;
    }
    Ok(pool.snapshot())
}

fn whole(entry: &Entry, key: &str) -> Result<u64, String> {
    let value = entry.get(key).and_then(Value::as_u64);
    value.ok_or_else(|| format!("`{key}` is no whole number"))
}

fn narrow(key: &str, value: u64) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| format!("`{key}` is too large"))
}
