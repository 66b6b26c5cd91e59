//! A recipe: the question, the commands and the files of a campaign.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};

use super::folder::write;
use crate::Error;

/// The version of the form.
const SCHEMA_VERSION: u64 = 1;

/// The model that the command line names.
#[derive(Debug, Default)]
pub struct ModelChoice {
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub model: Option<String>,
}

/// A recipe with all that its commands need.
pub struct Recipe {
    pub world: String,
    pub question: String,
    /// The claims that the campaign does not support.
    pub limits: Vec<String>,
    pub provider: String,
    pub base_url: Option<String>,
    pub model: String,
    /// The expected number of calls.
    pub calls: u64,
    pub estimate: Option<Estimate>,
    files: Vec<(String, String)>,
    pub steps: Vec<Step>,
    /// The commands whose JSON is the result, by name.
    pub results: Vec<(String, Vec<String>)>,
    /// The file for a reader: a page that a step writes, or the transcript.
    pub page: String,
    document: Value,
}

/// The command that estimates the cost, and the places of the amounts in its JSON.
pub struct Estimate {
    pub command: Vec<String>,
    pub expected: String,
    pub most: String,
}

/// A command of a recipe.
pub struct Step {
    pub command: Vec<String>,
    /// The command that continues it. Without one an interrupted step begins again, in the folder as it was before.
    pub again: Option<Vec<String>>,
    pub flags: StepFlags,
    pub spent: Option<SpentAt>,
    /// The line that the command reads.
    pub stdin: Option<String>,
    /// The text that the answer to this line should have.
    pub expect: Option<String>,
}

/// The flags that a campaign adds to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepFlags {
    None,
    /// The flags of the model.
    Model,
    /// The recording of a replay, for its time alone.
    Time,
}

/// The place of the amount that a step has spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpentAt {
    /// The ledger of a run, whose cap holds over all its processes.
    Ledger(String),
    /// The JSON of a command. The cap of such a step holds for one process. Before `path` exists nothing is spent.
    Command {
        command: Vec<String>,
        field: String,
        path: String,
    },
}

impl Recipe {
    /// Reads a recipe of the repository, with the contents of its files, its seed and its model.
    pub fn read(recipes: &Path, world: &str, model: &ModelChoice) -> Result<Self, Error> {
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let path = recipes.join(format!("{world}.json"));
        if !is_name(world) || !path.is_file() {
            let reason = format!("no recipe {}", path.display());
            return Err(Error::Usage { reason });
        }
        let text = |path: &Path| {
            fs::read_to_string(path).map_err(|source| Error::File {
                path: path.to_owned(),
                source,
            })
        };
        let wrong = || Error::Output { path: path.clone() };
        let mut document: Value = serde_json::from_str(&text(&path)?).map_err(|_| wrong())?;
        let mut files = serde_json::Map::new();
        for name in strings(&document["files"]) {
            let content = text(&recipes.join(world).join(&name))?;
            files.insert(name, content.into());
        }
        document["files"] = files.into();
        if document["seed"] == "random" {
            document["seed"] = draw()?.into();
        }
        let own = [
            ("provider", &model.provider),
            ("base_url", &model.base_url),
            ("model", &model.model),
        ];
        for (key, value) in own {
            if let Some(value) = value {
                document["asks"][key] = json!(value);
            }
        }
        Self::of(document).ok_or_else(wrong)
    }

    /// The recipe in a document of this version.
    pub fn of(document: Value) -> Option<Self> {
        if document["schema_version"].as_u64() != Some(SCHEMA_VERSION) {
            return None;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let seed = document["seed"].as_u64().map(|seed| seed.to_string());
        let words = |value: &Value| -> Option<Vec<String>> {
            let fill = |word: String| match &seed {
                Some(seed) => word.replace("{seed}", seed),
                None => word,
            };
            let words: Vec<_> = strings(value).into_iter().map(fill).collect();
            (!words.is_empty()).then_some(words)
        };
        let files: Vec<(String, String)> = document["files"]
            .as_object()?
            .iter()
            .map(|(name, content)| Some((name.clone(), text(content)?)))
            .collect::<Option<_>>()?;
        let mut steps = Vec::new();
        for step in document["steps"].as_array()? {
            let step_of = |stdin, expect| {
                Some(Step {
                    command: words(&step["run"])?,
                    again: words(&step["again"]),
                    flags: match &step["flags"] {
                        Value::Null => StepFlags::None,
                        flags if flags == "model" => StepFlags::Model,
                        flags if flags == "time" => StepFlags::Time,
                        _ => return None,
                    },
                    spent: SpentAt::of(&step["spent"], words),
                    stdin,
                    expect,
                })
            };
            let Some(name) = step["lines"].as_str() else {
                steps.push(step_of(None, None)?);
                continue;
            };
            let (_, content) = files.iter().find(|(file, _)| file == name)?;
            let lines: Value = serde_json::from_str(content).ok()?;
            for line in lines.as_array()? {
                steps.push(step_of(Some(text(&line["say"])?), text(&line["expect"]))?);
            }
        }
        let results = document["results"].as_object()?.iter();
        let estimate = &document["estimate"];
        Some(Self {
            world: text(&document["world"])?,
            question: text(&document["question"])?,
            limits: strings(&document["limits"]),
            provider: text(&document["asks"]["provider"])?,
            base_url: text(&document["asks"]["base_url"]),
            model: text(&document["asks"]["model"])?,
            calls: document["calls"].as_u64()?,
            estimate: words(&estimate["run"]).and_then(|command| {
                Some(Estimate {
                    command,
                    expected: text(&estimate["expected"])?,
                    most: text(&estimate["most"])?,
                })
            }),
            steps,
            results: results
                .map(|(name, command)| Some((name.clone(), words(command)?)))
                .collect::<Option<_>>()?,
            page: text(&document["page"])?,
            files,
            document,
        })
    }

    /// Writes the files of the recipe into a folder.
    pub fn write_files(&self, folder: &Path) -> Result<(), Error> {
        for (name, content) in &self.files {
            write(&folder.join(name), content)?;
        }
        Ok(())
    }

    /// The flags that select the model.
    pub fn model_flags(&self) -> Vec<String> {
        let mut flags = vec!["--provider".to_owned(), self.provider.clone()];
        flags.extend(["--model".to_owned(), self.model.clone()]);
        if let Some(url) = &self.base_url {
            flags.extend(["--base-url".to_owned(), url.clone()]);
        }
        flags
    }

    /// The facts of the record, which a campaign adds to its recipe.
    pub fn facts(&self) -> &Value {
        &self.document["record"]
    }

    /// The recipe with the facts of its record.
    pub fn with_facts(&self, facts: Value) -> Value {
        let mut document = self.document.clone();
        document["record"] = facts;
        document
    }
}

impl SpentAt {
    fn of(value: &Value, words: impl Fn(&Value) -> Option<Vec<String>>) -> Option<Self> {
        if let Some(path) = value["ledger"].as_str() {
            return Some(Self::Ledger(path.to_owned()));
        }
        Some(Self::Command {
            command: words(&value["run"])?,
            field: value["field"].as_str()?.to_owned(),
            path: value["path"].as_str()?.to_owned(),
        })
    }
}

/// The texts of a list.
fn strings(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// Draws a seed, which the recipe of the campaign then has.
fn draw() -> Result<u32, Error> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(u32::from_le_bytes(bytes))
}
