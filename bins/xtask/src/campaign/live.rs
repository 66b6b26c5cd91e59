//! The run with a model, under a cap. It can be cut at any moment and continues where it stopped.

use std::fs::{self, OpenOptions};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::json;

use super::folder::{CampaignProgress, Folder, copy, file_error, write};
use super::money::Dollars;
use super::recipe::{Recipe, SpentAt, Step, StepFlags};
use super::replay;
use super::work::{INTERRUPTED, Work};
use crate::workspace::{Workspace, output};
use crate::{Error, Exit};

/// The code of a wrong command line or configuration.
const USAGE: i64 = 2;

/// The variable of a process that ignores Ctrl-C.
const SHIELDED: &str = "ORRERY_CAMPAIGN_SHIELDED";

/// Whether this process ignores Ctrl-C.
pub fn is_shielded() -> bool {
    std::env::var_os(SHIELDED).is_some()
}

/// Starts this process again, which then ignores Ctrl-C, so that only the program that it runs stops, and the cut is labelled.
pub fn shield() -> Result<(), Error> {
    let program = std::env::current_exe().map_err(|source| file_error("xtask".as_ref(), source))?;
    let mut shell = Command::new("sh");
    // An ignored signal stays ignored in what is executed. A program that handles it sets its own handler.
    shell.args(["-c", r#"trap "" INT; exec "$0" "$@""#]);
    shell.arg(program).args(std::env::args_os().skip(1));
    shell.env(SHIELDED, "1");
    let source = shell.exec();
    Err(Error::Start {
        command: "sh".to_owned(),
        source,
    })
}

/// Runs the steps that are left, then makes the result by a replay.
pub fn run(
    workspace: &Workspace,
    recipe: &Recipe,
    folder: &Folder,
    cap: Dollars,
) -> Result<Exit, Error> {
    let mut state = match CampaignProgress::read(folder)? {
        Some(state) => state,
        None if folder.path().join("recipe.json").exists() => {
            let reason = format!("{}: this campaign is finished", folder.path().display());
            return Err(Error::Usage { reason });
        }
        None => begin(recipe, folder)?,
    };
    let work = Work::new(workspace, recipe, folder.live(), true);
    let is_cut = steps(&work, recipe, folder, &mut state, cap)?;
    let spent = Dollars(work.spent()?.0 + state.lost);
    let commit = output(&mut workspace.git(&["rev-parse", "--short=10", "HEAD"]));
    let facts = json!({
        "spent_usd": spent.flag(),
        "cut": is_cut,
        "commit": commit.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned()),
    });
    let document = recipe.with_facts(facts);
    write_recipe(folder, &document)?;
    let recipe = Recipe::of(document).ok_or(Error::Check("the recipe cannot be read again"))?;
    let label = replay::keep(workspace, &recipe, folder)?;
    let is_complete = !is_cut;
    if is_complete {
        folder.close()?;
    }
    search_keys(folder)?;
    println!("{}: {label}", recipe.world);
    Ok(match state.codes.iter().any(|code| *code != 0) {
        _ if is_cut => Exit::Interrupted,
        true => Exit::SomeFailed,
        false => Exit::Done,
    })
}

fn begin(recipe: &Recipe, folder: &Folder) -> Result<CampaignProgress, Error> {
    write_recipe(folder, &recipe.with_facts(serde_json::Value::Null))?;
    let live = folder.live();
    fs::create_dir_all(&live).map_err(|source| file_error(&live, source))?;
    recipe.write_files(&live)?;
    let state = CampaignProgress::default();
    state.write(folder)?;
    Ok(state)
}

fn write_recipe(folder: &Folder, document: &serde_json::Value) -> Result<(), Error> {
    write(
        &folder.path().join("recipe.json"),
        &format!("{document:#}\n"),
    )
}

/// Runs the steps that are left. Returns whether the cap or a signal cut the campaign.
fn steps(
    work: &Work<'_>,
    recipe: &Recipe,
    folder: &Folder,
    state: &mut CampaignProgress,
    cap: Dollars,
) -> Result<bool, Error> {
    while let Some(step) = recipe.steps.get(state.codes.len()) {
        let words = prepare(work, folder, state, step)?;
        let total = Dollars(work.spent()?.0 + state.lost);
        if step.flags == StepFlags::Model && total >= cap {
            return Ok(true);
        }
        state.has_begun = true;
        state.write(folder)?;
        let flags = work.live_flags(step, left(work, step, cap, total)?);
        let ended = work.step(step, words, &flags)?;
        match ended.code {
            INTERRUPTED => return Ok(true),
            USAGE => {
                let command = words.join(" ");
                let reason = format!("`{command}` ended with {USAGE}: see its error above");
                return Err(Error::Usage { reason });
            }
            code => state.codes.push(code),
        }
        state.has_begun = false;
        state.write(folder)?;
    }
    Ok(false)
}

/// The words of the next step. A step that began before is continued, or begins again in the folder as it was before.
fn prepare<'s>(
    work: &Work<'_>,
    folder: &Folder,
    state: &mut CampaignProgress,
    step: &'s Step,
) -> Result<&'s [String], Error> {
    if let Some(again) = &step.again {
        return Ok(if state.has_begun {
            again
        } else {
            &step.command
        });
    }
    if step.flags != StepFlags::Model {
        return Ok(&step.command);
    }
    let cassette = folder.cassette();
    if state.has_begun {
        let spent = work.spent()?;
        copy(&folder.before(), &folder.live())?;
        state.lost += spent.0 - work.spent()?.0;
        if cassette.exists() {
            let file = OpenOptions::new().write(true).open(&cassette);
            file.and_then(|file| file.set_len(state.cassette_bytes))
                .map_err(|source| file_error(&cassette, source))?;
        }
        state.has_begun = false;
        state.write(folder)?;
    } else {
        copy(&folder.live(), &folder.before())?;
        state.cassette_bytes = fs::metadata(&cassette).map_or(0, |found| found.len());
    }
    Ok(&step.command)
}

/// The cap of a step. A ledger counts what earlier processes spent, so its cap is for all of them.
fn left(work: &Work<'_>, step: &Step, cap: Dollars, total: Dollars) -> Result<Dollars, Error> {
    let own = match &step.spent {
        Some(place @ SpentAt::Ledger(_)) => work.spent_at(place)?,
        _ => Dollars(0),
    };
    Ok(Dollars(cap.0 - total.0 + own.0))
}

/// Refuses a folder in which a key of the environment is.
fn search_keys(folder: &Folder) -> Result<(), Error> {
    let keys: Vec<String> = std::env::vars()
        .filter(|(name, key)| name.ends_with("_API_KEY") && key.len() >= 8)
        .map(|(_, key)| key)
        .collect();
    let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
    for file in files {
        let text = fs::read(file.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if keys.iter().any(|key| text.contains(key)) {
            let path = file.path().display().to_string();
            let reason = format!("{path}: a key is in it; remove the folder");
            return Err(Error::Usage { reason });
        }
    }
    Ok(())
}
