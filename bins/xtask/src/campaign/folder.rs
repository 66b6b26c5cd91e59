//! The folder of a campaign, and the state of one that is not finished.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::recipe::Recipe;
use crate::Error;
use crate::workspace::{Workspace, finish, finish_into};

/// The folder of all runs, from the workspace's root.
const EXPERIMENTS: &str = "experiments";

/// The size in bytes above which the cassette is compressed.
const LARGE: u64 = 5_000_000;

/// A folder with the evidence of a campaign.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn at(path: &Path) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(|source| file_error(path, source))?;
        Ok(Self { path })
    }

    /// The newest unfinished folder of this campaign, else a new one with today's date.
    pub fn choose(workspace: &Workspace, recipe: &Recipe, today: &str) -> Result<Self, Error> {
        let root = workspace.root.join(EXPERIMENTS);
        let plain = |c: char| {
            let is_kept = c.is_ascii_alphanumeric() || "._-".contains(c);
            if is_kept { c } else { '-' }
        };
        let model: String = recipe.model.chars().map(plain).collect();
        let name = format!("campaign-{}-{model}", recipe.world);
        let entries = fs::read_dir(&root).into_iter().flatten().flatten();
        let mut open: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(|path| {
                let text = path.file_name().unwrap_or_default().to_string_lossy();
                text.contains(&name) && path.join("state.json").is_file()
            })
            .collect();
        open.sort();
        let free = (1..).map(|number| match number {
            1 => root.join(format!("{today}-{name}")),
            _ => root.join(format!("{today}-{name}-{number}")),
        });
        let mut free = free.filter(|path| !path.exists());
        let path = open.pop().or_else(|| free.next());
        Self::at(&path.unwrap_or(root))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in which the commands run until the campaign is finished.
    pub fn live(&self) -> PathBuf {
        self.path.join("live")
    }

    /// The copy of [`Self::live`] before a step that cannot be continued.
    pub fn before(&self) -> PathBuf {
        self.path.join("before")
    }

    pub fn cassette(&self) -> PathBuf {
        self.path.join("cassette.jsonl")
    }

    fn compressed(&self) -> PathBuf {
        self.path.join("cassette.jsonl.gz")
    }

    /// The recipe in the folder; `None` for a folder without a campaign.
    pub fn recipe(&self) -> Result<Option<Recipe>, Error> {
        let path = self.path.join("recipe.json");
        if !path.is_file() {
            return Ok(None);
        }
        let document = serde_json::from_str(&read(&path)?).ok();
        let recipe = document.and_then(Recipe::of);
        recipe.map(Some).ok_or(Error::Output { path })
    }

    /// Copies the cassette to `target`, as it was recorded.
    pub fn unpack(&self, target: &Path) -> Result<(), Error> {
        let (plain, compressed) = (self.cassette(), self.compressed());
        if compressed.is_file() {
            let mut gzip = Command::new("gzip");
            return finish_into(target, gzip.arg("-dc").arg(compressed));
        }
        if !plain.is_file() {
            // A campaign that was cut before its first call.
            return write(target, "");
        }
        fs::copy(&plain, target).map_err(|source| file_error(&plain, source))?;
        Ok(())
    }

    /// Removes what only an unfinished campaign needs, and compresses a large cassette.
    pub fn close(&self) -> Result<(), Error> {
        remove(&self.live())?;
        remove(&self.before())?;
        let state = self.path.join("state.json");
        fs::remove_file(&state).map_err(|source| file_error(&state, source))?;
        let cassette = self.cassette();
        if fs::metadata(&cassette).is_ok_and(|found| found.len() > LARGE) {
            finish(Command::new("gzip").arg("-9n").arg(&cassette))?;
        }
        Ok(())
    }
}

/// The progress of a campaign.
#[derive(Debug, Default)]
pub struct CampaignProgress {
    /// The exit codes of the steps that have ended.
    pub codes: Vec<i64>,
    /// Whether the next step has begun.
    pub has_begun: bool,
    /// The length of the cassette before the next step, in bytes.
    pub cassette_bytes: u64,
    /// The amount that steps have spent which began again, in billionths of a dollar.
    pub lost: i64,
}

impl CampaignProgress {
    /// The state in the folder; `None` if no campaign is under way there.
    pub fn read(folder: &Folder) -> Result<Option<Self>, Error> {
        let path = folder.path.join("state.json");
        if !path.is_file() {
            return Ok(None);
        }
        let state: Value = serde_json::from_str(&read(&path)?)
            .map_err(|_| Error::Output { path: path.clone() })?;
        let codes = state["codes"].as_array().into_iter().flatten();
        Ok(Some(Self {
            codes: codes.filter_map(Value::as_i64).collect(),
            has_begun: state["has_begun"] == true,
            cassette_bytes: state["cassette_bytes"].as_u64().unwrap_or_default(),
            lost: state["lost_nano_usd"].as_i64().unwrap_or_default(),
        }))
    }

    pub fn write(&self, folder: &Folder) -> Result<(), Error> {
        let state = json!({
            "codes": self.codes,
            "has_begun": self.has_begun,
            "cassette_bytes": self.cassette_bytes,
            "lost_nano_usd": self.lost,
        });
        write(&folder.path.join("state.json"), &format!("{state}\n"))
    }
}

pub fn file_error(path: &Path, source: io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        source,
    }
}

pub fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| file_error(path, source))
}

/// Writes a file whole: it is renamed when it is complete.
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    let new = path.with_added_extension("new");
    let parent = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(parent)
        .and_then(|()| fs::write(&new, text))
        .and_then(|()| fs::rename(&new, path));
    written.map_err(|source| file_error(path, source))
}

/// Removes a folder, if it is there.
pub fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file_error(folder, source)),
        _ => Ok(()),
    }
}

/// Copies a folder, in place of an earlier copy.
pub fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    remove(to)?;
    finish(Command::new("cp").arg("-R").arg(from).arg(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_cassette_is_compressed_and_comes_back_as_it_was() {
        if !test_support::has_program("gzip") {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(&place.path().join("kept")).unwrap();
        let copied = place.path().join("copy.jsonl");
        for size in [10, LARGE as usize + 10] {
            let text = "0123456789".repeat(size / 10) + "\n";
            write(&folder.cassette(), &text).unwrap();
            CampaignProgress::default().write(&folder).unwrap();
            folder.close().unwrap();
            assert_eq!(folder.compressed().exists(), size > 10);
            folder.unpack(&copied).unwrap();
            assert_eq!(read(&copied).unwrap(), text);
        }
    }
}
