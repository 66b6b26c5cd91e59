//! The plan of a sweep, from a TOML file.

use std::path::PathBuf;

use serde_json::Value;
use strsim::levenshtein;

use super::super::name::is_study_name;
use super::cell::{Axis, AxisValue, Cell};
use crate::config::{
    ConfigError, Fields, Json, Layer, NAME, Rule, join, key_path, kind, read_key, read_settings,
};
use crate::measures::nulls::{DEFAULT_RUNS, MIN_RUNS};

/// The largest number of axes.
const MOST_AXES: usize = 6;
/// The largest number of cells.
const MOST_CELLS: usize = 10_000;
/// The largest number of repeats.
const MOST_REPEATS: u64 = 1000;
/// The keys of a plan, those of its tables after a point.
const KEYS: &[&str] = &[
    "schema_version",
    "name",
    "repeats",
    "seed",
    "common_seeds",
    "init",
    "base",
    "axes",
    "caps.max_usd",
    "tests.alpha",
    "tests.null_runs",
];

/// A plan of runs: cells with different settings, each repeated.
///
/// ```
/// let plan = logosphere_core::study::sweep::SweepPlan::parse(br#"
///     schema_version = 1
///     name = "k-by-m"
///     repeats = 20
///     init = "init.md"
///     [base]
///     mind = "mutator:p=0.05"
///     [axes]
///     k_samples = [1, 3, 9]
///     m_active_pool = [15, 50]
/// "#)?;
/// assert_eq!(plan.cells().len(), 6);
/// assert_eq!(plan.cells()[1].key, "k_samples=1,m_active_pool=50");
/// # Ok::<(), logosphere_core::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SweepPlan {
    /// The name, of `a-z`, `0-9`, `.`, `_` and `-`.
    pub name: String,
    /// The number of runs of a cell, 1 to 1000.
    pub repeats: u32,
    /// The random seed that the seeds of all runs are derived from.
    pub seed: u64,
    /// Whether repeat r has the same seed in all cells.
    pub common_seeds: bool,
    /// The file with the seed messages, as the plan names it: relative to the plan.
    pub init: PathBuf,
    /// The settings that all cells share.
    pub base: Layer,
    /// The axes in the order of the file.
    pub axes: Vec<Axis>,
    /// The cap on the cost of all runs together in US dollars.
    pub max_usd: Option<f64>,
    /// The level of the tests, above 0 and below 1.
    pub alpha: f64,
    /// The number of null runs of each run.
    pub null_runs: u32,
}

impl SweepPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`ConfigError`] names the key that is unknown, missing or has another value than allowed. Unknown keys are errors,
    /// because a plan without them would be another one than intended.
    pub fn parse(bytes: &[u8]) -> Result<Self, ConfigError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            ConfigError::new(
                format!("byte {}", error.valid_up_to()),
                "not UTF-8; save the plan as UTF-8",
            )
        })?;
        let fields: Fields = toml::from_str(text).map_err(|error| no_toml(text, &error))?;
        let mut reading = PlanReading::default();
        for (name, json) in fields.0 {
            reading.field(&name, json)?;
        }
        reading.plan()
    }

    /// Returns the cells, the values of the last axis next to each other. A plan without axes has one cell, `all`.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = vec![Cell::default()];
        for axis in &self.axes {
            let longer = cells
                .iter()
                .flat_map(|cell| (axis.values.iter()).map(move |value| cell.with(axis, value)));
            cells = longer.collect();
        }
        for cell in &mut cells {
            cell.layer = std::mem::take(&mut cell.layer).over(self.base.clone());
            if cell.key.is_empty() {
                "all".clone_into(&mut cell.key);
            }
        }
        cells
    }
}

/// A plan in the making.
#[derive(Default)]
struct PlanReading {
    name: Option<String>,
    repeats: Option<u32>,
    seed: u64,
    common_seeds: bool,
    init: Option<PathBuf>,
    base: Layer,
    axes: Vec<Axis>,
    max_usd: Option<f64>,
    alpha: Option<f64>,
    null_runs: Option<u32>,
    version: Option<u64>,
}

impl PlanReading {
    fn field(&mut self, path: &str, json: Json) -> Result<(), ConfigError> {
        match (path, json) {
            ("base", json) => {
                self.base = read_settings(path, json)?;
                self.refuse_caps()?;
                self.refuse_seed()
            }
            ("axes", Json::Object(Fields(axes))) => axes
                .into_iter()
                .try_for_each(|(name, json)| self.axis(None, &name, json)),
            ("caps" | "tests", Json::Object(Fields(fields))) => fields
                .into_iter()
                .try_for_each(|(name, json)| self.value(&join(path, &name), &json.value())),
            ("axes" | "caps" | "tests", Json::Other(value)) => {
                let why = format!("expected a table, found {}", kind(&value));
                Err(ConfigError::new(path, why))
            }
            (_, json) => self.value(&join("", path), &json.value()),
        }
    }

    /// Reads a value that is neither a setting nor an axis.
    fn value(&mut self, path: &str, value: &Value) -> Result<(), ConfigError> {
        let whole = |from, to| number(path, value, Rule::Whole(from, to));
        let text = || allowed(path, value, NAME);
        match path {
            "schema_version" => self.version = Some(whole(1, 1)?),
            "name" => {
                text()?;
                let name = value.as_str().unwrap_or_default();
                if !is_study_name(name) {
                    let why = "expected 1 to 64 of a-z, 0-9, point, _ and -, without a point at the start";
                    return Err(ConfigError::new(path, why));
                }
                self.name = Some(name.to_owned());
            }
            "repeats" => self.repeats = Some(whole(1, MOST_REPEATS)? as u32),
            "seed" => self.seed = whole(0, u64::MAX)?,
            "common_seeds" => {
                allowed(path, value, Rule::Flag)?;
                self.common_seeds = *value == Value::Bool(true);
            }
            "init" => {
                text()?;
                self.init = value.as_str().map(PathBuf::from);
            }
            "caps.max_usd" => {
                allowed(path, value, Rule::Number(1e9))?;
                self.max_usd = value.as_f64();
            }
            "tests.alpha" => {
                allowed(path, value, Rule::Number(0.5))?;
                self.alpha = value.as_f64().filter(|alpha| *alpha > 0.0);
                if self.alpha.is_none() {
                    return Err(ConfigError::new(
                        path,
                        "expected a number above 0, up to 0.5",
                    ));
                }
            }
            "tests.null_runs" => self.null_runs = Some(whole(MIN_RUNS.into(), 1_000_000)? as u32),
            _ => return Err(unknown(path)),
        }
        Ok(())
    }

    fn axis(&mut self, group: Option<&str>, name: &str, json: Json) -> Result<(), ConfigError> {
        let key = group.map_or_else(|| name.to_owned(), |group| format!("{group}.{name}"));
        let path = join("axes", &key);
        let values = match json {
            Json::Object(Fields(fields)) if group.is_none() => {
                return fields
                    .into_iter()
                    .try_for_each(|(inner, json)| self.axis(Some(name), &inner, json));
            }
            Json::Object(_) => Vec::new(),
            Json::Other(Value::Array(values)) => values,
            Json::Other(value) => {
                let why = format!("expected a list of values, found {}", kind(&value));
                return Err(ConfigError::new(path, why));
            }
        };
        if values.is_empty() {
            return Err(ConfigError::new(path, "expected at least one value"));
        }
        // A setting may have an older name.
        let key = key_path(group, name).map_or(key, str::to_owned);
        if self.axes.iter().any(|other| other.name == key) {
            return Err(ConfigError::new(path, format!("{key} is an axis twice")));
        }
        let mut axis = Axis {
            name: key,
            values: Vec::new(),
        };
        for value in values {
            let layer = read_key(&path, group, name, value.clone())?;
            if axis.values.iter().any(|other| other.layer == layer) {
                return Err(ConfigError::new(path, format!("{value} is given twice")));
            }
            axis.values.push(AxisValue { value, layer });
        }
        self.axes.push(axis);
        Ok(())
    }

    fn check_axes(&self) -> Result<(), ConfigError> {
        let mut cells = self.axes.iter().map(|axis| axis.values.len());
        let cells = cells.try_fold(1_usize, usize::checked_mul);
        let error = |why| Err(ConfigError::new("axes", why));
        if let Some(cap) = self.axes.iter().find(|axis| axis.name.starts_with("caps.")) {
            let why = "the runs of a sweep have one cap together: max_usd in [caps]";
            return error(format!("{}: {why}", cap.name));
        }
        let is_axis = |name: &str| self.axes.iter().any(|axis| axis.name == name);
        if (self.base.mind.is_some() || is_axis("mind"))
            && (self.base.minds.is_some() || is_axis("minds"))
        {
            return error("mind and minds both name the minds; leave one of them out".to_owned());
        }
        if self.axes.iter().any(|axis| axis.name == "seed") {
            return error(
                "seed cannot be an axis: the seed of each run follows from that of the plan"
                    .to_owned(),
            );
        }
        if self.axes.len() > MOST_AXES {
            return error(format!(
                "expected at most {MOST_AXES} axes, found {}",
                self.axes.len()
            ));
        }
        match cells {
            Some(cells) if cells <= MOST_CELLS => Ok(()),
            _ => error(format!(
                "expected at most {MOST_CELLS} cells, which is the product of all axes"
            )),
        }
    }

    /// All runs spend from one account, so a cap of a single run would hold for all of them.
    fn refuse_caps(&self) -> Result<(), ConfigError> {
        match (self.base.max_usd, self.base.max_tokens) {
            (None, None) => Ok(()),
            _ => Err(ConfigError::new(
                "base.caps",
                "the runs of a sweep have one cap together: max_usd in [caps]",
            )),
        }
    }

    fn refuse_seed(&self) -> Result<(), ConfigError> {
        match self.base.seed {
            None => Ok(()),
            Some(_) => Err(ConfigError::new(
                "base.seed",
                "the seed of a plan is the key seed outside of its tables",
            )),
        }
    }

    fn plan(self) -> Result<SweepPlan, ConfigError> {
        fn needed<T>(value: Option<T>, key: &str) -> Result<T, ConfigError> {
            value.ok_or_else(|| ConfigError::new(key, "missing; a plan needs it"))
        }
        needed(self.version, "schema_version")?;
        self.check_axes()?;
        Ok(SweepPlan {
            name: needed(self.name, "name")?,
            repeats: needed(self.repeats, "repeats")?,
            seed: self.seed,
            common_seeds: self.common_seeds,
            init: needed(self.init, "init")?,
            base: self.base,
            axes: self.axes,
            max_usd: self.max_usd,
            alpha: self.alpha.unwrap_or(0.05),
            null_runs: self.null_runs.unwrap_or(DEFAULT_RUNS),
        })
    }
}

fn allowed(path: &str, value: &Value, rule: Rule) -> Result<(), ConfigError> {
    if rule.allows(value) {
        return Ok(());
    }
    let why = format!("expected {rule}, found {}", rule.found(value));
    Err(ConfigError::new(path, why))
}

fn number(path: &str, value: &Value, rule: Rule) -> Result<u64, ConfigError> {
    allowed(path, value, rule)?;
    Ok(value.as_u64().unwrap_or_default())
}

fn unknown(path: &str) -> ConfigError {
    let nearest = (KEYS.iter()).min_by_key(|key| levenshtein(path, key));
    let nearest = nearest.copied().unwrap_or_default();
    ConfigError::new(
        path,
        format!("no such key of a plan; the nearest is {nearest}"),
    )
}

/// The error of a text that is not TOML, with its place.
fn no_toml(text: &str, error: &toml::de::Error) -> ConfigError {
    let place = error.span().map_or_else(String::new, |span| {
        let before = &text.as_bytes()[..span.start.min(text.len())];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let column = 1 + before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .count();
        format!("line {line}, column {column}")
    });
    let message = error.message().trim().replace('\n', "; ");
    ConfigError::new(place, format!("not TOML: {message}"))
}
