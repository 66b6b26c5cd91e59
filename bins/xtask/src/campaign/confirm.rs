//! The question before anything is sent.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use super::folder::remove;
use super::money::Dollars;
use super::recipe::Recipe;
use super::work::Work;
use crate::Error;
use crate::workspace::Workspace;

/// Prints the model and the estimate, and asks on a terminal. Without one `--yes` is the answer.
pub fn confirm(
    workspace: &Workspace,
    recipe: &Recipe,
    cap: Dollars,
    is_sure: bool,
) -> Result<bool, Error> {
    let (expected, most) = estimate(workspace, recipe)?;
    let most = most.map_or(cap, |most| most.min(cap));
    let expected = expected.map_or("unknown".to_owned(), |usd| usd.min(most).to_string());
    let host = recipe
        .base_url
        .as_deref()
        .unwrap_or("the provider's own address");
    eprintln!("campaign {}: {}", recipe.world, recipe.question);
    eprintln!("{} at {host}, model {}", recipe.provider, recipe.model);
    let text = format!(
        "Send about {} calls, expected {expected}, at most {most}?",
        recipe.calls
    );
    if is_sure {
        eprintln!("{text} yes (--yes)");
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        let reason = format!("{text} No terminal to ask on: give --yes");
        return Err(Error::Usage { reason });
    }
    eprint!("{text} [y/N] ");
    let mut answer = String::new();
    let read = io::stderr()
        .flush()
        .and_then(|()| io::stdin().read_line(&mut answer));
    Ok(read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The expected and the highest cost by the program's own estimate, as far as it knows them.
fn estimate(
    workspace: &Workspace,
    recipe: &Recipe,
) -> Result<(Option<Dollars>, Option<Dollars>), Error> {
    let Some(estimate) = &recipe.estimate else {
        return Ok((None, None));
    };
    let folder = workspace.campaign_folder(&format!("estimate-{}", std::process::id()))?;
    recipe.write_files(&folder)?;
    let work = Work::new(workspace, recipe, folder.clone(), false);
    let ended = work.run(&estimate.command, &recipe.model_flags(), None)?;
    remove(&folder)?;
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    let amount = |field: &str| match document.pointer(field)? {
        Value::String(text) => Dollars::parse(text),
        number => number.as_f64().and_then(Dollars::from_dollars),
    };
    Ok((amount(&estimate.expected), amount(&estimate.most)))
}
