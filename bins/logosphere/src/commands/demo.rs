//! `demo`: a run without a model, its verification and its report.

use bin_support::demo::{DemoArgs, DemoResult};
use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::config::Durability;
use logosphere_core::experiment::Experiment;

use crate::begin::{RunTarget, run_in};
use crate::embedding::EmbedFlags;
use crate::flags::{ChangeableFlags, FixedFlags, RunFlags, SettingFlags};
use crate::page::PageFile;
use crate::proof;
use crate::setup::failure;
use crate::status::StatusForm;

/// Twelve minds that change a word in ten, thirty rounds, and an active pool larger than a round.
const MINDS: u32 = 12;
const ROUNDS: u32 = 30;
const ACTIVE: usize = 30;

pub fn execute(args: &DemoArgs, session: &mut Session) -> Result<Exit, Failure> {
    let folder = args.make_folder()?;
    // A demo shows the same everywhere: its seeds are the built-in ones, not those of the working directory.
    Experiment::open_or_make(&folder)
        .and_then(|experiment| experiment.ensure_init_file(&folder))
        .map_err(failure)?;
    let flags = RunFlags {
        settings: SettingFlags {
            fixed: FixedFlags {
                minds: Some(MINDS),
                active: Some(ACTIVE),
                seed: Some(1),
                mind: Some("mutator:p=0.1".to_owned()),
                ..FixedFlags::default()
            },
            changeable: ChangeableFlags {
                rounds: Some(ROUNDS),
                durability: Some(Durability::Flush),
                ..ChangeableFlags::default()
            },
        },
        ..RunFlags::default()
    };
    let place = RunTarget::Directory(&folder);
    let (ran, status) = run_in(place, &flags, StatusForm::None, session)?;
    if ran != Exit::Done {
        return Ok(ran);
    }
    let proof = proof::proven(&folder, session)?;
    let written = PageFile::new(&folder, None)?.write(&EmbedFlags::default(), session)?;
    if written != Exit::Done {
        return Ok(written);
    }
    let page = folder.join("report.html");
    let shown = |path: &std::path::Path| escape(&path.display().to_string());
    let journal = folder.join("logs/experiment.jsonl");
    let result = DemoResult {
        lines: vec![
            format!("run       {MINDS} scripted minds, {ROUNDS} rounds; no model was called"),
            format!("pool      {} messages", status.messages()),
            format!("journal   {}", shown(&journal)),
            format!("verified  {} lines, rebuilt byte for byte", proof.lines),
            format!("head      {}", proof.head),
            format!("page      {}", shown(&page)),
            format!("next      logosphere analyze {}", shown(&folder)),
        ],
        line: format!(
            "offline: {ROUNDS} rounds, {} messages; journal verified",
            status.messages()
        ),
        page,
    };
    result.print(args, session)
}
