use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::import::ImportItem;
use super::outer::Outer;
use super::{BundleError, ImportBatch, ImportProblem, ImportProblemReason, MAX_BUNDLE, check_size};
use crate::block::FoundBlock;
use crate::store::Origins;
use crate::{BlockName, FormatErrors, MAX_FILE, Path as NodePath};

/// Takes in blocks one by one and collects their faults.
pub(super) struct Reader {
    repair: bool,
    names: BTreeSet<BlockName>,
    blocks: Vec<ImportItem>,
    problems: Vec<ImportProblem>,
}

impl Reader {
    pub fn new(repair: bool) -> Self {
        Self {
            repair,
            names: BTreeSet::new(),
            blocks: Vec::new(),
            problems: Vec::new(),
        }
    }

    pub fn problem(&mut self, name: &str, reason: ImportProblemReason) {
        self.problems.push(ImportProblem::new(name, reason, None));
    }

    /// Takes in a block. `hash` is that of its export.
    pub fn block(&mut self, name: &str, json: &str, hash: Option<&str>) {
        if let Err(problem) = self.take(name, json, hash) {
            self.problems.push(problem);
        }
    }

    /// Takes in a block of a bundle, with the labels of its nodes.
    pub fn block_of_bundle(
        &mut self,
        name: &str,
        json: &str,
        hash: Option<&str>,
        labels: BTreeMap<NodePath, Origins>,
    ) {
        let before = self.blocks.len();
        self.block(name, json, hash);
        if let Some(item) = self.blocks.get_mut(before) {
            item.labels = labels;
        }
    }

    /// Takes in a block of a set of upstream, under its name in lower case.
    pub fn block_of_set(&mut self, name: &str, json: &str) {
        let lower = name.to_ascii_lowercase();
        let before = self.blocks.len();
        self.block(&lower, json, None);
        if lower != name
            && let Some(item) = self.blocks.get_mut(before)
        {
            item.notices.push(format!("its name there is {name}"));
        }
    }

    /// Takes in the block files of a folder, in the order of their names.
    pub fn folder(&mut self, folder: &Path) -> Result<(), BundleError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| BundleError::Io { path, source }
        };
        let mut files = Vec::new();
        let mut size = 0;
        for entry in fs::read_dir(folder).map_err(failed(folder))? {
            let entry = entry.map_err(failed(folder))?;
            let path = entry.path();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && path.extension().is_some_and(|ending| ending == "json") {
                let length = entry.metadata().map_or(0, |found| found.len());
                // A file that is too long is not read.
                size += length.min(MAX_FILE as u64 + 1);
                files.push(path);
            }
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        check_size("folder", MAX_BUNDLE, size)?;
        files.sort();
        for path in files {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            match read_file(&path) {
                Ok(text) if Outer::holds_blocks(&text) => {
                    let reason = "the file holds several blocks: import it without the folder";
                    self.problem(&name, ImportProblemReason::Entry(reason.to_owned()));
                }
                Ok(text) => self.block(&name, &text, None),
                Err(reason) => self.problem(&name, ImportProblemReason::Entry(reason)),
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &str, json: &str, hash: Option<&str>) -> Result<(), ImportProblem> {
        let problem = |reason, repair| Err(ImportProblem::new(name, reason, repair));
        let block_name = match BlockName::new(name) {
            Ok(name) => name,
            Err(error) => return problem(error.into(), None),
        };
        if self.names.contains(&block_name) {
            return problem(ImportProblemReason::Twice, None);
        }
        let found = match FoundBlock::read(json, self.repair) {
            Ok(found) => found,
            Err(errors) => return problem(errors.into(), None),
        };
        let issues = found.issues;
        let Some(block) = found.block else {
            return problem(FormatErrors { issues }.into(), None);
        };
        if !issues.is_empty() && !self.repair {
            let repair = if issues.len() == found.hidden_texts {
                "keeps its text"
            } else {
                "leaves faulty parts out"
            };
            return problem(FormatErrors { issues }.into(), Some(repair));
        }
        let mut repairs: Vec<_> = issues.iter().map(ToString::to_string).collect();
        if let Some(said) = hash.map(str::to_owned) {
            let found = hex::encode(block.hash());
            if found != said {
                let reason = ImportProblemReason::Hash { found, said };
                if !self.repair {
                    return problem(reason, Some("takes it as it is"));
                }
                repairs.push(reason.to_string());
            }
        }
        self.names.insert(block_name.clone());
        self.blocks.push(ImportItem {
            name: block_name,
            block,
            labels: BTreeMap::new(),
            repairs,
            notices: found.notices,
            note: found.tuning.map(|tuning| format!("tuning {tuning}")),
        });
        Ok(())
    }

    /// The blocks, if none has a problem.
    pub fn all_blocks(self) -> Result<ImportBatch, BundleError> {
        if !self.problems.is_empty() {
            let faults = self.problems;
            return Err(BundleError::Faulty { faults });
        }
        self.good_blocks()
    }

    /// The blocks of a folder that have no problem, if there is one.
    pub fn good_blocks(self) -> Result<ImportBatch, BundleError> {
        let faults = self.problems;
        if self.blocks.is_empty() && !faults.is_empty() {
            return Err(BundleError::FaultyFolder { faults });
        }
        Ok(ImportBatch {
            blocks: self.blocks,
            problems: faults,
        })
    }
}

/// The text of a block's file, or a sentence about why there is none.
fn read_file(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("the file cannot be read: {error}");
    let mut bytes = Vec::new();
    // One byte over the limit is enough to refuse the file.
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() > MAX_FILE {
        return Err(format!(
            "the file has more bytes than a block may have, {MAX_FILE}"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "the file is not a text in UTF-8".to_owned())
}
