//! Universes given as JSON; `docs/universe-format.md` describes the form.

use serde_json::{Map, Value};

use super::error::UniverseError;
use super::kinetic::KineticGrid;
use super::rule::{MAX_RADIUS, Rule};
use super::state::{Alphabet, Symbol};
use super::tabulated::Tabulated;
use super::transform::Transform;
use crate::json::{self, hint, kind, nearest};

type Read<T> = Result<T, UniverseError>;

impl Tabulated {
    /// Reads a universe: `id`, `symbols`, `radius`, `rule` (`table`, or `patterns` with a `default`, where `?` is any symbol and
    /// the first match counts), and, if wanted, `initial_forbidden`, `incoming` and `transforms`.
    ///
    /// # Errors
    /// [`UniverseError`] for the first invalid field, or for the first neighbourhood that the table does not cover.
    pub fn from_json(text: &str) -> Result<Self, UniverseError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self::from_value(&json::parse(text, "$")?)
    }

    /// Reads a universe from a JSON value: a definition, or the id of the built-in universe.
    ///
    /// # Errors
    /// [`UniverseError`] as for [`from_json`](Self::from_json).
    pub fn from_value(value: &Value) -> Result<Self, UniverseError> {
        if *value == KineticGrid::ID {
            return Ok(Tabulated::clone(&KineticGrid));
        }
        let Value::Object(map) = value else {
            let message = format!(
                "expected a definition (an object) or {:?}, found {}",
                KineticGrid::ID,
                kind(value)
            );
            return Err(UniverseError::Json { message });
        };
        read(&UniverseObject { path: "", map })
    }
}

/// A JSON object that is being read; `path` is empty for the whole file.
struct UniverseObject<'a> {
    path: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> UniverseObject<'a> {
    /// Reads an object and checks that it has known keys only.
    fn of(value: &'a Value, path: &'a str, form: &str, known: &[&str]) -> Read<Self> {
        let Value::Object(map) = value else {
            return wrong(path, format!("expected {form}, found {}", kind(value)));
        };
        let object = Self { path, map };
        object.only(known)?;
        Ok(object)
    }

    fn only(&self, known: &[&str]) -> Read<()> {
        match self.map.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let free = known.iter().copied().filter(|k| !self.map.contains_key(*k));
                let meant = match nearest(key, free) {
                    None => format!("; the keys are {}", known.join(", ")),
                    near => hint(near),
                };
                wrong(&self.at(key), format!("unknown key `{key}`{meant}"))
            }
        }
    }

    fn at(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.into()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn require(&self, key: &str, form: &str) -> Read<&'a Value> {
        match self.get(key) {
            Some(value) => Ok(value),
            None => wrong(&self.at(key), format!("is missing, expected {form}")),
        }
    }

    fn text(&self, key: &str) -> Read<&'a str> {
        let value = self.require(key, "a string")?;
        text(value, &self.at(key))
    }
}

fn wrong<T>(field: &str, message: impl Into<String>) -> Read<T> {
    Err(UniverseError::field(field, message))
}

fn text<'a>(value: &'a Value, path: &str) -> Read<&'a str> {
    match value.as_str() {
        Some(text) => Ok(text),
        None => wrong(path, format!("expected a string, found {}", kind(value))),
    }
}

/// Reads a string of one character.
fn character(value: &Value, path: &str) -> Read<char> {
    let mut chars = value.as_str().unwrap_or_default().chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => Ok(char),
        _ => wrong(path, format!("expected one symbol, found {value}")),
    }
}

/// Reads a string, or an array of one-character strings.
fn characters(value: &Value, path: &str) -> Read<Vec<char>> {
    let item = |(index, item)| character(item, &format!("{path}[{index}]"));
    match value {
        Value::String(text) => Ok(text.chars().collect()),
        Value::Array(items) => items.iter().enumerate().map(item).collect(),
        other => wrong(
            path,
            format!(
                "expected a string or an array of symbols, found {}",
                kind(other)
            ),
        ),
    }
}

fn read(file: &UniverseObject<'_>) -> Read<Tabulated> {
    file.only(&[
        "id",
        "symbols",
        "radius",
        "rule",
        "initial_forbidden",
        "incoming",
        "transforms",
    ])?;
    let id = file.text("id")?;
    let symbols = file.require("symbols", "a string of 1 to 8 symbols")?;
    let alphabet = Alphabet::new(characters(symbols, "symbols")?)?;
    let radius = file.require("radius", "0, 1 or 2")?;
    let radius = match radius.as_u64() {
        Some(number) if number <= MAX_RADIUS as u64 => number as usize,
        _ => {
            return wrong(
                "radius",
                format!("expected 0 to {MAX_RADIUS}, found {radius}"),
            );
        }
    };
    let rule = read_rule(file.require("rule", RULE)?, &alphabet, radius)?;
    let mut forbidden = Vec::new();
    if let Some(value) = file.get("initial_forbidden") {
        for char in characters(value, "initial_forbidden")? {
            forbidden.push(alphabet.known_symbol("initial_forbidden", char)?);
        }
    }
    if (0..alphabet.len() as Symbol).all(|symbol| forbidden.contains(&symbol)) {
        let message = "forbids every symbol, so no state could start";
        return wrong("initial_forbidden", message);
    }
    let incoming = match file.get("incoming") {
        Some(value) => Some(alphabet.known_symbol("incoming", character(value, "incoming")?)?),
        None => None,
    };
    let transforms = match file.get("transforms") {
        None => Vec::new(),
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| read_transform(item, &format!("transforms[{index}]"), &alphabet))
            .collect::<Read<_>>()?,
        Some(other) => {
            return wrong(
                "transforms",
                format!("expected an array, found {}", kind(other)),
            );
        }
    };
    Tabulated::new(id.into(), alphabet, rule)
        .starting_with(|symbol| !forbidden.contains(&symbol))
        .with(incoming, transforms)
        .checked()
}

fn read_transform(value: &Value, path: &str, alphabet: &Alphabet) -> Read<Transform> {
    let form = r#"an object such as {"name": "mirror", "reverse": true, "map": {}}"#;
    let transform = UniverseObject::of(value, path, form, &["name", "reverse", "map"])?;
    let name = transform.text("name")?;
    let reverse = match transform.get("reverse") {
        None => false,
        Some(Value::Bool(reverse)) => *reverse,
        Some(other) => {
            let message = format!("expected true or false, found {}", kind(other));
            return wrong(&transform.at("reverse"), message);
        }
    };
    let place = transform.at("map");
    let mut images = Vec::new();
    match transform.get("map") {
        None => {}
        Some(Value::Object(map)) => {
            for (from, to) in map {
                let from = character(&from.as_str().into(), &place)?;
                images.push((from, character(to, &place)?));
            }
        }
        Some(other) => {
            let message = format!("expected an object, found {}", kind(other));
            return wrong(&place, message);
        }
    }
    Transform::new(name, reverse, images, alphabet).map_err(|error| error.inside(path))
}

const RULE: &str = "either `table`, or `patterns` with `default`";
const PATTERNS: &str = r#"an array such as [["?oo", "o"], ["o.?", "o"]]"#;

fn read_rule(value: &Value, alphabet: &Alphabet, radius: usize) -> Read<Rule> {
    let rule = UniverseObject::of(
        value,
        "rule",
        "an object",
        &["table", "patterns", "default"],
    )?;
    match ["table", "patterns", "default"].map(|key| rule.get(key)) {
        [Some(table), None, None] => read_table(table, alphabet, radius),
        [None, Some(patterns), Some(default)] => {
            let default = character(default, "rule.default")?;
            let default = alphabet.known_symbol("rule.default", default)?;
            read_patterns(patterns, default, alphabet, radius)
        }
        _ => wrong("rule", format!("expected {RULE}")),
    }
}

/// Reads the cells of a window, `None` for the wildcard.
fn cells(text: &str, path: &str, alphabet: &Alphabet, radius: usize) -> Read<Vec<Option<Symbol>>> {
    let width = 2 * radius + 1;
    if text.chars().count() != width {
        return wrong(
            path,
            format!("{text:?} must have {width} cells (2 * radius + 1)"),
        );
    }
    text.chars()
        .map(|char| match char {
            '?' => Ok(None),
            char => alphabet.known_symbol(path, char).map(Some),
        })
        .collect()
}

fn read_table(value: &Value, alphabet: &Alphabet, radius: usize) -> Read<Rule> {
    const PATH: &str = "rule.table";
    let Value::Object(map) = value else {
        let message = format!("expected an object, found {}", kind(value));
        return wrong(PATH, message);
    };
    let (symbols, width) = (alphabet.len(), 2 * radius + 1);
    let mut table = vec![None; symbols.pow(width as u32)];
    for (window, next) in map {
        let mut code = 0;
        for cell in cells(window, PATH, alphabet, radius)? {
            let Some(symbol) = cell else {
                return wrong(PATH, format!("{window:?} has a `?`, which `patterns` have"));
            };
            code = code * symbols + usize::from(symbol);
        }
        table[code] = Some(alphabet.known_symbol(PATH, character(next, PATH)?)?);
    }
    if let Some((window, _)) = super::rule::windows(symbols, width)
        .zip(&table)
        .find(|(_, next)| next.is_none())
    {
        return Err(UniverseError::Incomplete {
            missing: alphabet.text(&window),
            count: table.iter().filter(|next| next.is_none()).count(),
            expected: table.len(),
        });
    }
    let next = table.into_iter().flatten().collect();
    Ok(Rule::from_table(symbols, radius, next))
}

fn read_patterns(value: &Value, default: Symbol, alphabet: &Alphabet, radius: usize) -> Read<Rule> {
    let Value::Array(items) = value else {
        let message = format!("expected {PATTERNS}, found {}", kind(value));
        return wrong("rule.patterns", message);
    };
    let mut patterns = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("rule.patterns[{index}]");
        let Some([window, next]) = item.as_array().map(Vec::as_slice) else {
            let message =
                format!("expected a window and a symbol such as [\"?oo\", \"o\"], found {item}");
            return wrong(&path, message);
        };
        let window = text(window, &path)?;
        let next = alphabet.known_symbol(&path, character(next, &path)?)?;
        patterns.push((window, cells(window, &path, alphabet, radius)?, next));
    }
    let fits = |cells: &[Option<Symbol>], window: &[Symbol]| {
        let mut pairs = cells.iter().zip(window);
        pairs.all(|(want, have)| want.is_none_or(|want| want == *have))
    };
    // Each window belongs to the first pattern that fits it.
    let (symbols, width) = (alphabet.len(), 2 * radius + 1);
    let first: Vec<Option<usize>> = super::rule::windows(symbols, width)
        .map(|window| {
            patterns
                .iter()
                .position(|(_, cells, _)| fits(cells, &window))
        })
        .collect();
    for (index, (text, cells, _)) in patterns.iter().enumerate() {
        if first.contains(&Some(index)) {
            continue;
        }
        let taken = super::rule::windows(symbols, width).zip(&first);
        let taken = taken.filter(|(window, _)| fits(cells, window));
        let before = taken.filter_map(|(_, first)| *first).max();
        let before = before.map_or(String::new(), |before| {
            format!(" after rule.patterns[{before}] ({:?})", patterns[before].0)
        });
        let message = format!("{text:?} never matches{before}");
        return wrong(&format!("rule.patterns[{index}]"), message);
    }
    let next = first
        .into_iter()
        .map(|first| first.map_or(default, |index| patterns[index].2))
        .collect();
    Ok(Rule::from_table(symbols, radius, next))
}
