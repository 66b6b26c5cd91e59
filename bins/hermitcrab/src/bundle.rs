//! Files of blocks, which commands export and import.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use bin_support::output::write_file;
use bin_support::{Exit, Failure, OutputTarget, Results, Session, escape};
use clap::ValueEnum;
use hermitcrab_kernel::ToolError;
use hermitcrab_kernel::prompt::CoreBlock;
use hermitcrab_kernel::prompt::keystone::keystone_version;
use pscale_blocks::bundle::{
    BundleError, Export, ImportBatch, ImportOutcome, ImportProblem, ImportRules, Imported,
    MAX_BUNDLE,
};
use pscale_blocks::{BlockName, BlockStore};
use serde::Serialize;

use crate::answer::{Answer, print_answer, printable_json};
use crate::blocks::edit::key_notice;
use crate::data_dir::DataDir;
use crate::error::{Error, name, repair_hint};

/// The text of an export, and the names of the blocks in it.
pub struct ExportText {
    pub text: String,
    pub blocks: Vec<BlockName>,
}

/// Collects all blocks of a data directory in one bundle.
///
/// # Errors
/// The directory does not exist, or it has no block: an empty bundle would replace a backup.
pub fn all_blocks(data: &DataDir, with_log: bool) -> Result<ExportText, Error> {
    data.ensure_exists()?;
    let store = data.for_reading()?;
    let blocks: Vec<_> = store.names()?.into_iter().map(|info| info.name).collect();
    if blocks.is_empty() {
        let path = data.path().to_owned();
        return Err(Error::NoBlocks { path });
    }
    let version = stored_version(&*store);
    let how = Export::new(data.now())
        .keystone_version(version.as_deref())
        .with_log(with_log);
    let text = pscale_blocks::bundle::export(&*store, None, &how)
        .map_err(|error| Error::of_bundle(data.path(), error))?;
    Ok(ExportText { text, blocks })
}

/// Returns the version number in the keystone of a store, if it has one.
fn stored_version(store: &dyn BlockStore) -> Option<String> {
    let keystone = store.load(CoreBlock::Keystone.name()).ok()?.block;
    keystone_version(&keystone).map(|number| number.to_string())
}

/// The answer of an export to a file.
#[derive(Serialize)]
struct ExportAnswer {
    file: PathBuf,
    /// The names of the exported blocks.
    blocks: Vec<BlockName>,
    bytes: usize,
}

/// Writes an export to stdout, or to a file and then reports about the file.
pub fn send(
    export: Result<ExportText, Error>,
    output: Option<&OutputTarget>,
    json: bool,
    data: &DataDir,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let (export, file) = match (export, output.and_then(OutputTarget::file)) {
        (Err(error), _) => return print_answer::<ExportAnswer>(json, Err(error), session),
        (Ok(export), None) => {
            let mut text = export.text;
            if session.results.is_terminal() {
                text = printable_json(&text);
            }
            session.results.write_all(text.as_bytes())?;
            return Ok(Exit::Done);
        }
        (Ok(export), Some(file)) => (export, file),
    };
    if data.holds(file) {
        let path = file.to_owned();
        return print_answer::<ExportAnswer>(json, Err(Error::IntoData { path }), session);
    }
    let written = write_file(file, |out| out.write_all(export.text.as_bytes()));
    let exported = ExportAnswer {
        file: file.to_owned(),
        blocks: export.blocks,
        bytes: export.text.len(),
    };
    print_answer(
        json,
        written.map(|()| exported).map_err(Error::from),
        session,
    )
}

impl Answer for ExportAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let blocks = self.blocks.len();
        let plural = if blocks == 1 { "" } else { "s" };
        writeln!(out, "{blocks} block{plural} in {}", name(&self.file))
    }
}

#[derive(Debug, clap::Args)]
pub struct ImportFlags {
    /// Bundle, block file, folder of block files, or - for stdin.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the block in a block file [default: the name of the file].
    #[arg(long, value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// Action for a block whose name is taken.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = OnConflict::Skip)]
    pub on_conflict: OnConflict,
    /// Leave out faulty parts and import the rest.
    #[arg(long)]
    pub repair: bool,
    /// Take the file for your own backup: a bundle's texts keep their labels, those of a block file have none, and the
    /// model's own blocks are replaced, too.
    #[arg(long)]
    pub trust: bool,
}

/// The action for a block whose name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnConflict {
    /// Skips the block; the exit code is 3.
    Skip,
    /// Replaces the other block, which `block undo` restores.
    Replace,
    /// Adds a number to the name.
    Rename,
}

impl From<OnConflict> for pscale_blocks::bundle::OnConflict {
    fn from(how: OnConflict) -> Self {
        match how {
            OnConflict::Skip => Self::Skip,
            OnConflict::Replace => Self::Replace,
            OnConflict::Rename => Self::Rename,
        }
    }
}

/// The answer of an import: the outcome for each block.
#[derive(Serialize)]
pub struct ImportAnswer {
    file: PathBuf,
    /// The blocks in the order of the file.
    blocks: Vec<Imported>,
    /// The files of a folder that are not imported.
    not_imported: Vec<NotImported>,
    /// The option that imports what was skipped.
    #[serde(skip)]
    advice: &'static str,
}

/// A file of a folder that is not imported, with the error.
#[derive(Serialize)]
struct NotImported {
    name: String,
    #[serde(flatten)]
    error: ToolError,
}

impl From<&ImportProblem> for NotImported {
    fn from(problem: &ImportProblem) -> Self {
        let error = ToolError::new(problem.kind(), problem.reason.to_string());
        Self {
            name: problem.name.clone(),
            error: match repair_hint(std::slice::from_ref(problem)) {
                Some(hint) => error.hint(hint),
                None => error,
            },
        }
    }
}

pub fn import(args: &ImportFlags, data: &DataDir) -> Result<ImportAnswer, Error> {
    let file = &args.file;
    let parcel = read(args)?;
    if parcel.names().next().is_none() {
        return Err(Error::NoBlocks { path: file.clone() });
    }
    let store = data.for_writing()?;
    let source = file.display().to_string();
    let kept = CoreBlock::REVIEWED.map(|core| core.name().clone());
    let rules = ImportRules::new(args.on_conflict.into())
        .trust(args.trust)
        .keeping(&kept);
    let blocks = parcel
        .import(&*store, rules, &source, data.now())
        .map_err(|error| Error::of_bundle(file, error))?;
    Ok(ImportAnswer {
        file: file.clone(),
        blocks,
        not_imported: parcel.problems().iter().map(NotImported::from).collect(),
        advice: match args.on_conflict {
            OnConflict::Replace => "--trust replaces the model's own blocks, too",
            _ => "--on-conflict replace or rename imports what was skipped",
        },
    })
}

fn read(args: &ImportFlags) -> Result<ImportBatch, Error> {
    let file = &args.file;
    let of_file = |error| Error::of_bundle(file, error);
    let unreadable = |source| Error::Read {
        path: file.clone(),
        source,
    };
    let is_stdin = file == Path::new("-");
    if !is_stdin && fs::metadata(file).map_err(unreadable)?.is_dir() {
        return ImportBatch::read_folder(file, args.repair).map_err(of_file);
    }
    let from: Box<dyn Read> = if is_stdin {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).map_err(unreadable)?)
    };
    let mut bytes = Vec::new();
    // One byte over the limit is enough to refuse the file.
    let mut from = from.take(MAX_BUNDLE as u64 + 1);
    from.read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        of_file(BundleError::Format {
            reason: "no text in UTF-8".to_owned(),
        })
    })?;
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let name = match &args.name {
        Some(name) => Some(name.clone()),
        None => stem.and_then(|stem| BlockName::new(stem).ok()),
    };
    ImportBatch::read(&text, name.as_ref(), args.repair).map_err(of_file)
}

impl Answer for ImportAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for block in &self.blocks {
            let name = &block.name;
            match &block.outcome {
                ImportOutcome::Created => writeln!(out, "{name}  imported")?,
                ImportOutcome::Replaced => writeln!(out, "{name}  in the place of the one before")?,
                ImportOutcome::Renamed { to } => writeln!(out, "{name}  imported as {to}")?,
                ImportOutcome::Skipped => writeln!(out, "{name}  skipped, the name is taken")?,
                ImportOutcome::Same => writeln!(out, "{name}  there already")?,
            }
            for repair in &block.repairs {
                writeln!(out, "  left out: {}", escape(repair))?;
            }
            for notice in &block.notices {
                writeln!(out, "  {}", escape(notice))?;
            }
        }
        for NotImported { name, error } in &self.not_imported {
            let (name, detail) = (escape(name), escape(&error.detail));
            write!(out, "{name}  not imported: {detail}")?;
            match &error.hint {
                Some(hint) => writeln!(out, "; {hint}")?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let left = self.not_imported.len();
        if left > 0 {
            let all = left + self.blocks.len();
            notices.push(format!("{left} of {all} files were not imported"));
        }
        if self.skipped() {
            notices.push(self.advice.to_owned());
        }
        let keys: u32 = self.blocks.iter().map(|block| block.keys_removed).sum();
        notices.extend(key_notice(keys));
        notices
    }

    fn exit(&self) -> Exit {
        if self.skipped() || !self.not_imported.is_empty() {
            Exit::SomeFailed
        } else {
            Exit::Done
        }
    }
}

impl ImportAnswer {
    fn skipped(&self) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|block| block.outcome == ImportOutcome::Skipped)
    }
}
