//! `verify`: checks everything that a journal says.

use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};

use crate::proof;
use crate::subject::Subject;

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Read a journal of the Python program of 2026-01-02, which has no chain.
    #[arg(long, requires = "init")]
    pub legacy: bool,
    /// File init.md that the old journal began with.
    #[arg(long, value_name = "FILE", requires = "legacy")]
    pub init: Option<PathBuf>,
    /// Head that the journal must have, as an earlier `verify` printed it.
    #[arg(long, value_name = "HEX", conflicts_with = "legacy", value_parser = head)]
    pub expect_head: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Parses the head of a journal, in lower case.
fn head(text: &str) -> Result<String, String> {
    let is_head = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let head = is_head.then(|| text.to_ascii_lowercase());
    head.ok_or_else(|| "expected 32 hexadecimal digits, as `verify` prints them".to_owned())
}

pub fn execute(args: &VerifyArgs, session: &mut Session) -> Result<Exit, Failure> {
    let given = args.subject.find(session)?;
    match (args.legacy, &args.init) {
        (true, Some(init)) => proof::check_old(&given, init, args.json, session),
        _ => proof::check(&given, args.expect_head.as_deref(), args.json, session),
    }
}
