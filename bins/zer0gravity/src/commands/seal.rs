//! `zer0gravity seal`: commits to texts before they are published.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Output, OutputTarget, Session};
use serde::Serialize;
use zer0gravity_engine::dataset::{Case, Seal};
use zer0gravity_engine::run::RunView;

use crate::error::{self, Error};
use crate::output::{self, Versioned};
use crate::selection;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity seal notes.txt -o sealed.json
  zer0gravity seal notes.txt --check sealed.json";

#[derive(Debug, clap::Args)]
pub struct SealArgs {
    /// Files with texts, and folders of them, or the folder of a run; - for stdin.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,
    /// File for the seal, which must be new; - for stdout.
    ///
    /// Keep it secret until the systems are handed in, and publish the commitment before.
    #[arg(short, long, value_name = "FILE", required_unless_present = "check")]
    pub output: Option<OutputTarget>,
    /// Seal that the texts must be those of; exit code 4 if they are not.
    ///
    /// The printed line must be the commitment that was published: without --commitment the exit code says only that seal and texts belong
    /// together.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub check: Option<PathBuf>,
    /// Published commitment that the seal must have; exit code 4 if it has another.
    #[arg(long, value_name = "HEX", requires = "check", value_parser = commitment_text)]
    pub commitment: Option<String>,
    /// Print the commitment as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The result of the command.
#[derive(Debug, Serialize)]
struct SealStatus<'a> {
    commitment: &'a str,
    cases: usize,
    /// Whether the texts are those of the seal, and the seal is the published one.
    holds: bool,
}

pub fn execute(args: &SealArgs, session: &mut Session) -> Result<Exit, Failure> {
    let cases = match args.inputs.as_slice() {
        [run] if run.join("run.json").is_file() => {
            let view = RunView::open(run).map_err(error::directory)?;
            view.plan().cases.clone()
        }
        files => selection::dataset(files, false, session)?.cases,
    };
    let cases: Vec<Case> = cases.into_iter().map(|one| one.case).collect();
    let seal = if let Some(path) = &args.check {
        selection::seal(path)?
    } else {
        let seal = Seal::new(salt()?, &cases);
        let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
        write(&seal, target, &args.inputs, session)?;
        if target.file().is_none() {
            return Ok(Exit::Done);
        }
        seal
    };
    let (sealed, found) = (seal.cases, cases.len());
    let published = args.commitment.as_ref().unwrap_or(&seal.commitment);
    let fault = if !seal.holds(&cases) {
        Some(format!(
            "the texts are not those of the seal ({sealed} sealed, {found} given); give the same files under the same names, in the same order"
        ))
    } else if *published != seal.commitment {
        Some(format!(
            "the seal is not the published one: --commitment is {published}"
        ))
    } else {
        None
    };
    let status = SealStatus {
        commitment: &seal.commitment,
        cases: found,
        holds: fault.is_none(),
    };
    if args.json {
        output::json(Output::Stdout, &Versioned::new(&status), session)?;
    } else {
        writeln!(session.results, "{}", status.commitment)?;
    }
    let Some(fault) = fault else {
        return Ok(Exit::Done);
    };
    session.warn(&fault);
    Ok(Exit::CheckFailed)
}

/// Writes a seal to stdout or a new file: a second seal would replace the salt of the first.
fn write(
    seal: &Seal,
    target: &OutputTarget,
    inputs: &[PathBuf],
    session: &mut Session,
) -> Result<(), Failure> {
    if let Some(path) = target.file().filter(|path| path.symlink_metadata().is_ok()) {
        let path = path.to_owned();
        return Err(Failure::usage(Error::SealExists { path }));
    }
    output::json(target.begin(inputs)?, seal, session)
}

/// Draws the salt of a seal.
fn salt() -> Result<[u8; 32], Error> {
    let mut salt = [0; 32];
    let drawn = getrandom::fill(&mut salt);
    drawn.map_err(|error| Error::Salt(error.to_string()))?;
    Ok(salt)
}

/// Reads a commitment: 64 hex digits.
fn commitment_text(text: &str) -> Result<String, String> {
    let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = is_hex.then(|| text.to_ascii_lowercase());
    text.ok_or_else(|| "expected 64 hex digits".to_owned())
}
