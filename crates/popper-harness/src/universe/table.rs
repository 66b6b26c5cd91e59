//! Universes given as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::definition::TransformDefinition;
use super::{
    Alphabet, Definition, KineticGrid, MAX_RADIUS, MAX_SYMBOLS, Rule, Shift, Symbol, Transform,
    Universe, UniverseError,
};
use crate::json;

/// A ring automaton with up to 8 symbols and radius up to 2, given by its table.
///
/// ```
/// use popper_harness::universe::{TableUniverse, Universe};
///
/// let traffic = TableUniverse::from_json(r#"{
///     "id": "traffic", "symbols": ".o", "radius": 1,
///     "rule": {"patterns": [["?oo", "o"], ["o.?", "o"]], "default": "."}
/// }"#)?;
/// let jam = traffic.alphabet().parse("oo..")?;
/// assert_eq!(traffic.alphabet().text(&traffic.step(&jam)), "o.o.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableUniverse {
    id: String,
    alphabet: Alphabet,
    rule: Rule,
    may_start: Vec<bool>,
    transforms: Vec<Transform>,
}

/// A list of symbols: one string, or an array of one-character strings.
#[derive(Deserialize)]
#[serde(untagged)]
enum Symbols {
    Text(String),
    List(Vec<char>),
}

impl Symbols {
    fn chars(self) -> Vec<char> {
        match self {
            Self::Text(text) => text.chars().collect(),
            Self::List(chars) => chars,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    symbols: Symbols,
    radius: usize,
    rule: FileRule,
    initial_forbidden: Option<Symbols>,
    #[serde(default)]
    transforms: Vec<TransformDefinition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRule {
    table: Option<BTreeMap<String, char>>,
    patterns: Option<Vec<(String, char)>>,
    default: Option<char>,
}

impl TableUniverse {
    /// Reads a universe: `id`, `symbols`, `radius`, `rule` (`table`, or `patterns` with a `default`, where `?` stands for any symbol and
    /// the first match counts), and, if wanted, `initial_forbidden` and `transforms`.
    ///
    /// # Errors
    /// [`UniverseError`] says which field is wrong, or which neighbourhood the table does not cover.
    pub fn from_json(text: &str) -> Result<Self, UniverseError> {
        // Read a second time for the form, because only a text has lines and columns to name.
        json::parse(text, "$")?;
        let file: File = serde_json::from_str(text).map_err(|error| UniverseError::Json {
            message: error.to_string(),
        })?;
        Self::build(file)
    }

    pub(super) fn from_definition(definition: &Definition) -> Result<Self, UniverseError> {
        Self::build(File {
            id: definition.id.clone(),
            symbols: Symbols::Text(definition.symbols.clone()),
            radius: definition.radius,
            rule: FileRule {
                table: Some(definition.rule.table.clone()),
                patterns: None,
                default: None,
            },
            initial_forbidden: Some(Symbols::Text(definition.initial_forbidden.clone())),
            transforms: definition.transforms.clone(),
        })
    }

    /// A universe from its parts; the caller has checked them.
    pub(super) fn from_parts(id: String, alphabet: Alphabet, rule: Rule) -> Self {
        let may_start = vec![true; alphabet.len()];
        Self {
            id,
            alphabet,
            rule,
            may_start,
            transforms: Vec::new(),
        }
    }

    fn build(file: File) -> Result<Self, UniverseError> {
        let problem = |field: &str, message: String| UniverseError::Field {
            field: field.into(),
            message,
        };
        if file.id.trim().is_empty() || file.id == KineticGrid::ID {
            let message = format!(
                "expected a name other than {:?}, which is built in",
                KineticGrid::ID
            );
            return Err(problem("id", message));
        }
        let chars = file.symbols.chars();
        if chars.is_empty() || chars.len() > MAX_SYMBOLS {
            return Err(problem(
                "symbols",
                format!("expected 1 to {MAX_SYMBOLS} symbols, found {}", chars.len()),
            ));
        }
        for (index, char) in chars.iter().enumerate() {
            if chars[..index].contains(char) {
                return Err(problem(
                    "symbols",
                    format!("symbol {char:?} stands there twice"),
                ));
            }
            if matches!(char, '\'' | '"' | '?') || char.is_whitespace() || char.is_control() {
                let message =
                    format!("symbol {char:?} cannot be told from quotes, blanks or the wildcard");
                return Err(problem("symbols", message));
            }
        }
        if file.radius > MAX_RADIUS {
            return Err(problem(
                "radius",
                format!("expected 0 to {MAX_RADIUS}, found {}", file.radius),
            ));
        }
        let alphabet = Alphabet::new(chars);
        let symbol = |field: &str, char| {
            alphabet
                .symbol(char)
                .ok_or_else(|| problem(field, format!("symbol {char:?} is not one of `symbols`")))
        };
        let next = file.rule.tabulate(&alphabet, file.radius)?;
        let rule = Rule::from_table(alphabet.len(), file.radius, next);

        let mut may_start = vec![true; alphabet.len()];
        for char in file.initial_forbidden.map_or_else(Vec::new, Symbols::chars) {
            may_start[usize::from(symbol("initial_forbidden", char)?)] = false;
        }
        if !may_start.contains(&true) {
            return Err(problem(
                "initial_forbidden",
                "forbids every symbol, so no state could start".into(),
            ));
        }
        let mut transforms: Vec<Transform> = Vec::new();
        for (index, transform) in file.transforms.into_iter().enumerate() {
            let field = format!("transforms[{index}]");
            let taken = transforms.iter().any(|known| known.name == transform.name);
            if taken || transform.name.trim().is_empty() || Shift::parse(&transform.name).is_some()
            {
                let message = format!(
                    "{:?} is blank, taken, or the name of a shift",
                    transform.name
                );
                return Err(problem(&format!("{field}.name"), message));
            }
            let mut map: Vec<Symbol> = (0..alphabet.len() as Symbol).collect();
            for (from, to) in transform.map {
                let field = format!("{field}.map");
                map[usize::from(symbol(&field, from)?)] = symbol(&field, to)?;
            }
            transforms.push(Transform {
                name: transform.name,
                reverse: transform.reverse,
                map,
            });
        }
        Ok(Self {
            id: file.id,
            alphabet,
            rule,
            may_start,
            transforms,
        })
    }
}

impl FileRule {
    fn tabulate(self, alphabet: &Alphabet, radius: usize) -> Result<Vec<Symbol>, UniverseError> {
        let width = 2 * radius + 1;
        let problem = |field: &str, message: String| UniverseError::Field {
            field: format!("rule{field}"),
            message,
        };
        let symbol = |field: &str, char| {
            alphabet
                .symbol(char)
                .ok_or_else(|| problem(field, format!("symbol {char:?} is not one of `symbols`")))
        };
        let check = |field: &str, pattern: &str, wildcard: bool| {
            if pattern.chars().count() != width {
                return Err(problem(
                    field,
                    format!("{pattern:?} must have {width} cells (2 * radius + 1)"),
                ));
            }
            for char in pattern.chars().filter(|&char| !(wildcard && char == '?')) {
                symbol(field, char)?;
            }
            Ok(())
        };
        let (entries, default) = match (self.table, self.patterns, self.default) {
            (Some(table), None, None) => {
                for window in table.keys() {
                    check(".table", window, false)?;
                }
                (table.into_iter().collect::<Vec<_>>(), None)
            }
            (None, Some(patterns), Some(default)) => {
                for (index, (pattern, _)) in patterns.iter().enumerate() {
                    check(&format!(".patterns[{index}]"), pattern, true)?;
                }
                (patterns, Some(symbol(".default", default)?))
            }
            _ => {
                return Err(problem(
                    "",
                    "expected either `table`, or `patterns` with `default`".into(),
                ));
            }
        };
        // Patterns in symbols, `None` for the wildcard; first match counts.
        let compiled: Vec<(Vec<Option<Symbol>>, Symbol)> = entries
            .iter()
            .map(|(pattern, next)| {
                Ok((
                    pattern.chars().map(|char| alphabet.symbol(char)).collect(),
                    symbol(".table", *next)?,
                ))
            })
            .collect::<Result<_, UniverseError>>()?;
        let exact: BTreeMap<&[Option<Symbol>], Symbol> = if default.is_none() {
            compiled
                .iter()
                .map(|(window, next)| (window.as_slice(), *next))
                .collect()
        } else {
            BTreeMap::new()
        };
        let lookup = |window: &[Symbol]| match default {
            None => exact
                .get(
                    window
                        .iter()
                        .copied()
                        .map(Some)
                        .collect::<Vec<_>>()
                        .as_slice(),
                )
                .copied(),
            Some(default) => compiled
                .iter()
                .find(|(pattern, _)| {
                    pattern
                        .iter()
                        .zip(window)
                        .all(|(want, have)| want.is_none_or(|w| w == *have))
                })
                .map_or(Some(default), |(_, next)| Some(*next)),
        };
        let all: Vec<_> = super::definition::windows(alphabet.len(), width).collect();
        let next: Vec<Option<Symbol>> = all.iter().map(|window| lookup(window)).collect();
        if let Some(first) = next.iter().position(Option::is_none) {
            return Err(UniverseError::Incomplete {
                missing: alphabet.text(&all[first]),
                count: next.iter().filter(|entry| entry.is_none()).count(),
                expected: all.len(),
            });
        }
        Ok(next.into_iter().flatten().collect())
    }
}

impl Universe for TableUniverse {
    fn id(&self) -> &str {
        &self.id
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn radius(&self) -> usize {
        self.rule.radius()
    }

    fn next_cell(&self, window: &[Symbol]) -> Symbol {
        self.rule.next(window)
    }

    fn may_start(&self, symbol: Symbol) -> bool {
        self.may_start[usize::from(symbol)]
    }

    fn transforms(&self) -> &[Transform] {
        &self.transforms
    }
}
