//! `block lint`: warns of forms that are allowed and are probably a mistake.

use std::io::{self, Write as _};

use bin_support::{Exit, Results};
use pscale_blocks::{BlockName, Lint};
use serde::Serialize;

use crate::answer::Answer;
use crate::blocks::list::chosen;
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct LintArgs {
    /// Name of the block [default: all blocks].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
}

/// The findings in one block or in all.
#[derive(Serialize)]
pub struct LintAnswer {
    /// The findings in order of the blocks' names and of the paths.
    lints: Vec<BlockLint>,
}

/// A finding, with the name of its block.
#[derive(Serialize)]
struct BlockLint {
    name: BlockName,
    #[serde(flatten)]
    lint: Lint,
}

pub fn execute(args: &LintArgs, data: &DataDir) -> Result<LintAnswer, Error> {
    let store = data.for_reading()?;
    let mut lints = Vec::new();
    for name in chosen(&*store, args.name.as_ref())? {
        let found = store.load(&name)?.block.lint().into_iter();
        lints.extend(found.map(|lint| BlockLint {
            name: name.clone(),
            lint,
        }));
    }
    Ok(LintAnswer { lints })
}

impl Answer for LintAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for BlockLint { name, lint } in &self.lints {
            writeln!(out, "{name} {lint}")?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.lints.is_empty() {
            Exit::Done
        } else {
            Exit::CheckFailed
        }
    }
}
