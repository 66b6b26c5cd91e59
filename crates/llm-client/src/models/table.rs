use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::price::Dollars;
use super::{Model, ModelStatus, ModelThinking, Price, Tier};
use crate::ConfigError;
use crate::error::UnavailableModel;

/// The embedded table.
const EMBEDDED: &str = include_str!("../../data/models.json");

/// A table of models, with the day on which it was read.
#[derive(Debug, Clone, Default)]
pub struct ModelTable {
    as_of: Date,
    entries: Vec<Entry>,
}

/// A row, kept for merging, and its model.
#[derive(Debug, Clone)]
struct Entry {
    row: Row,
    model: Arc<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    schema_version: u32,
    #[serde(rename = "read_on")]
    as_of: Date,
    #[serde(borrow)]
    models: Vec<&'a RawValue>,
}

/// A row of a table. A missing field is unknown; in a user's row, it keeps the embedded value.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    provider: String,
    id: String,
    aliases: Option<Vec<String>>,
    status: Option<ModelStatus>,
    retired_at: Option<Date>,
    context: Option<u64>,
    max_output: Option<u32>,
    thinking: Option<ModelThinking>,
    effort: Option<Vec<String>>,
    sampling: Option<bool>,
    forced_tools: Option<bool>,
    prefill: Option<bool>,
    structured: Option<bool>,
    price: Option<Price>,
    tiers: Option<Vec<Tier>>,
    server_tools: Option<BTreeMap<String, Dollars>>,
    multipliers: Option<BTreeMap<String, Dollars>>,
    reports_cost: Option<bool>,
    source: Option<String>,
    verified: Option<bool>,
    #[serde(skip)]
    status_on: Option<Date>,
    #[serde(skip)]
    priced_on: Option<Date>,
}

impl ModelTable {
    /// The table that comes with the crate.
    pub fn embedded() -> Self {
        // A test reads it, so it is never the empty one.
        Self::parse(EMBEDDED).unwrap_or_default()
    }

    /// Reads a table: `{"schema_version": 1, "read_on": "2026-11-21", "models": [...]}`. A row needs `provider` and
    /// `id` only; `data/models.json` of this crate shows all fields. Prices are texts: `"0.125"`.
    ///
    /// # Errors
    /// [`ConfigError::Models`] with the line: no JSON, an unknown field, a value that its field cannot have, two rows
    /// for one id.
    pub fn parse(json: &str) -> Result<Self, ConfigError> {
        Self::read(json).map_err(|LineError { line, why }| ConfigError::Models { line, why })
    }

    fn read(json: &str) -> Result<Self, LineError> {
        let file: File<'_> = read_json(json)?;
        if file.schema_version != 1 {
            return Err(LineError {
                line: 1,
                why: format!("schema_version is 1, not {}", file.schema_version),
            });
        }
        let mut names = BTreeSet::new();
        let mut entries = Vec::with_capacity(file.models.len());
        for part in file.models {
            let mut row: Row = read_part(json, part)?;
            row.check(&mut names).map_err(|why| LineError {
                line: line_of(json, part),
                why,
            })?;
            row.date(file.as_of);
            entries.push(Entry::new(row));
        }
        Ok(Self {
            as_of: file.as_of,
            entries,
        })
    }

    /// This table overridden by the rows of `user`, field by field: a row with only a price keeps everything else. A row is
    /// found by its id or by a whole alias; other rows are added.
    #[must_use]
    pub fn overridden_by(&self, user: &Self) -> Self {
        let mut merged = self.clone();
        merged.as_of = merged.as_of.max(user.as_of);
        for Entry { row, .. } in &user.entries {
            let place = merged.place(row);
            match place.and_then(|place| merged.entries.get_mut(place)) {
                Some(entry) => *entry = Entry::new(entry.row.overridden_by(row)),
                None => merged.entries.push(Entry::new(row.clone())),
            }
        }
        merged
    }

    /// The position of the row that `user` overrides.
    fn place(&self, user: &Row) -> Option<usize> {
        let by = |same: fn(&Row, &str) -> bool| {
            self.entries
                .iter()
                .position(|Entry { row, .. }| row.provider == user.provider && same(row, &user.id))
        };
        by(|row, id| row.id == id)
            .or_else(|| by(|row, id| row.aliases.iter().flatten().any(|alias| alias == id)))
    }

    /// The model with this id or alias at `provider`. A whole id is found before an alias, and that before a pattern
    /// that ends in `*`.
    pub fn find(&self, provider: &str, id: &str) -> Option<&Model> {
        self.find_shared(provider, id).map(Arc::as_ref)
    }

    /// As [`Self::find`], for a call that keeps the row.
    pub(crate) fn find_shared(&self, provider: &str, id: &str) -> Option<&Arc<Model>> {
        let models = self.entries.iter().map(|entry| &entry.model);
        models
            .filter(|model| model.provider == provider)
            .filter_map(|model| Some((model.match_rank(id)?, model)))
            .max_by_key(|(rank, _)| *rank)
            .map(|(_, model)| model)
    }

    /// All models, in the order of the table.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.entries.iter().map(|entry| entry.model.as_ref())
    }

    /// The day the table was read; of merged tables, the later one.
    pub fn as_of(&self) -> Date {
        self.as_of
    }

    /// Up to `limit` active ids of `provider`, in the order of the table.
    pub fn active(&self, provider: &str, limit: usize) -> Vec<String> {
        self.models()
            .filter(|model| model.provider == provider && model.status == ModelStatus::Active)
            .filter(|model| !model.id.ends_with('*'))
            .take(limit)
            .map(|model| model.id.clone())
            .collect()
    }

    /// Adds the table's facts: the day of retirement, and up to five other models for one that is retired or not in the table.
    pub fn explain(&self, unavailable: &mut UnavailableModel) {
        let found = self.find(&unavailable.provider, &unavailable.model);
        let retired = found.filter(|model| model.status == ModelStatus::Retired);
        unavailable.retired_at = retired
            .and_then(|model| model.retired_at)
            .map(|day| day.to_string());
        unavailable.read_on = retired
            .and_then(|model| model.status_on)
            .unwrap_or(self.as_of)
            .to_string();
        // A model that the table knows as served is missing for another reason, which the server says.
        unavailable.active = if found.is_none() || retired.is_some() {
            self.active(&unavailable.provider, 5)
        } else {
            Vec::new()
        };
    }
}

impl Entry {
    fn new(row: Row) -> Self {
        let model = row.model().into();
        Self { row, model }
    }
}

impl Row {
    /// Checks what `Deserialize` does not. `names` are those of the earlier rows.
    fn check(&self, names: &mut BTreeSet<(String, String)>) -> Result<(), String> {
        if self.provider.is_empty() || self.id.is_empty() {
            return Err("provider and id are never empty".to_owned());
        }
        for name in std::iter::once(&self.id).chain(self.aliases.iter().flatten()) {
            if !names.insert((self.provider.clone(), name.clone())) {
                return Err(format!("{name} of {} is there twice", self.provider));
            }
        }
        let Some(tiers) = &self.tiers else {
            return Ok(());
        };
        if self.price.is_some() {
            return Err(format!(
                "{} has price and tiers, which exclude each other",
                self.id
            ));
        }
        let bounds: Vec<u64> = tiers
            .iter()
            .map(|tier| tier.up_to_prompt.unwrap_or(u64::MAX))
            .collect();
        let last_is_open = tiers.last().is_some_and(|tier| tier.up_to_prompt.is_none());
        if !last_is_open || !bounds.is_sorted_by(|a, b| a < b) {
            return Err(format!(
                "the tiers of {} rise in up_to_prompt, and only the last has none",
                self.id
            ));
        }
        Ok(())
    }

    /// Adds the day of the table to the facts of the row.
    fn date(&mut self, as_of: Date) {
        let priced = self.price.is_some() || self.tiers.is_some() || self.server_tools.is_some();
        self.priced_on = priced.then_some(as_of);
        let dated = self.status.is_some() || self.retired_at.is_some();
        self.status_on = dated.then_some(as_of);
    }

    fn overridden_by(&self, user: &Self) -> Self {
        // A price takes tiers out and the other way round: they are one field.
        let priced = user.price.is_some() || user.tiers.is_some();
        let Self { price, tiers, .. } = if priced { user.clone() } else { self.clone() };
        macro_rules! merged {
            ($($field:ident)*) => {
                Self {
                    provider: self.provider.clone(),
                    id: self.id.clone(),
                    price,
                    tiers,
                    $($field: user.$field.clone().or_else(|| self.$field.clone()),)*
                }
            };
        }
        merged! {
            aliases status retired_at context max_output thinking effort sampling forced_tools prefill structured
            server_tools multipliers reports_cost source verified status_on priced_on
        }
    }

    fn model(&self) -> Model {
        let row = self.clone();
        let generic = Model::unknown(row.provider, row.id);
        let flat = |price| Tier {
            up_to_prompt: None,
            price,
        };
        Model {
            aliases: row.aliases.unwrap_or_default(),
            status: row.status.unwrap_or(generic.status),
            retired_at: row.retired_at,
            status_on: row.status_on,
            context: row.context,
            max_output: row.max_output,
            thinking: row.thinking.unwrap_or(generic.thinking),
            effort: row.effort.unwrap_or_default(),
            sampling: row.sampling.unwrap_or(generic.sampling),
            forced_tools: row.forced_tools.unwrap_or(generic.forced_tools),
            prefill: row.prefill.unwrap_or(generic.prefill),
            structured: row.structured.unwrap_or(generic.structured),
            tiers: match row.price {
                Some(price) => vec![flat(price)],
                None => row.tiers.unwrap_or_default(),
            },
            priced_on: row.priced_on,
            server_tools: row
                .server_tools
                .unwrap_or_default()
                .into_iter()
                .map(|(tool, dollars)| (tool, dollars.0))
                .collect(),
            multipliers: row
                .multipliers
                .unwrap_or_default()
                .into_iter()
                // A factor is read as an amount of dollars is, which is never negative.
                .map(|(setting, factor)| (setting, factor.0.0.unsigned_abs()))
                .collect(),
            reports_cost: row.reports_cost.unwrap_or(generic.reports_cost),
            source: row.source.unwrap_or_default(),
            verified: row.verified.unwrap_or(generic.verified),
            ..generic
        }
    }
}

/// A problem in a JSON text that a person wrote, with its line, from 1.
#[derive(Debug)]
struct LineError {
    line: usize,
    why: String,
}

/// Reads `json` as a `T`.
fn read_json<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, LineError> {
    serde_json::from_str(json).map_err(|error| {
        // The message names the place too, and a part's place would be wrong in the whole.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let why = error.to_string();
        LineError {
            line: error.line().max(1),
            why: why.strip_suffix(&place).unwrap_or(&why).to_owned(),
        }
    })
}

/// Reads `part`, a slice of `json`, as a `T`; line numbers are those of `json`.
fn read_part<'a, T: Deserialize<'a>>(json: &str, part: &'a RawValue) -> Result<T, LineError> {
    read_json(part.get()).map_err(|error| LineError {
        line: line_of(json, part) + error.line - 1,
        why: error.why,
    })
}

/// The line of `json` on which its slice `part` begins.
fn line_of(json: &str, part: &RawValue) -> usize {
    let start = part
        .get()
        .as_ptr()
        .addr()
        .saturating_sub(json.as_ptr().addr());
    let before = json.as_bytes().get(..start).unwrap_or_default();
    1 + before.split(|&byte| byte == b'\n').skip(1).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_read_and_every_row_names_its_source() {
        let table = ModelTable::parse(EMBEDDED).unwrap();
        assert_eq!(table.models().count(), 11);
        for model in table.models() {
            assert!(!model.source.is_empty(), "{}", model.id);
        }
    }
}
