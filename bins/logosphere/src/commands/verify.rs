//! `verify`: rebuilds a journal from itself and checks everything that it says.

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::error::Error;
use crate::folders;
use crate::proof::{self, Expected};

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// File for the rebuilt journal; - for stdout.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Head that the journal must have, as an earlier `verify` printed it.
    #[arg(long, value_name = "HEX", value_parser = head)]
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
    if args.json && matches!(args.output, Some(OutputTarget::Stdout)) {
        return Err(Failure::usage(Error::TwoResults));
    }
    let given = folders::recorded(&args.run, session)?;
    let expected = Expected {
        head: args.expect_head.as_deref(),
        rebuilt: args.output.as_ref(),
    };
    proof::check(&given, expected, args.json, session)
}
