//! `replay`: rebuilds a journal from itself.

use std::io::Write as _;

use bin_support::{Exit, Failure, OutputTarget, Session};
use logosphere_core::verify::{VerifyReport, verify, verify_to};

use crate::journal_file::{does_not_hold, kept, open};
use crate::subject::Subject;

#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// File for the rebuilt journal; - for stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<OutputTarget>,
}

pub fn execute(args: &ReplayArgs, session: &mut Session) -> Result<Exit, Failure> {
    let given = args.subject.find(session)?;
    let journal = open(&given)?;
    let replayed = match &args.out {
        None => verify(journal),
        Some(out) => {
            let output = out.begin(kept(&given))?;
            let mut replayed = Ok(VerifyReport::default());
            // The rebuilt part is kept even if it differs: it shows the first difference.
            output.finish(session, |out| {
                replayed = verify_to(journal, out);
                Ok(())
            })?;
            replayed
        }
    };
    match replayed {
        Ok(report) => {
            let equal = format!("equal: {} lines, byte for byte", report.lines);
            match args.out {
                // The journal alone is on stdout.
                Some(OutputTarget::Stdout) => session.status(&equal),
                _ => writeln!(session.results, "{equal}")?,
            }
            Ok(Exit::Done)
        }
        Err(error) => Err(does_not_hold(&given, error)),
    }
}
