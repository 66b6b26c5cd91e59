//! `cargo xtask campaign`: a recipe of commands that asks a model, and the folder of evidence that it leaves.
//!
//! A recipe is `fixtures/campaigns/WORLD.json`; nothing else here knows a program. The commands run once with a model, which a
//! cassette records. The kept result is that of a replay of this cassette, so the same bytes can be made anywhere.

mod confirm;
mod folder;
mod live;
mod local;
mod money;
mod readme;
mod recipe;
mod record;
mod replay;
mod work;

use std::path::Path;

use crate::task::Arguments;
use crate::workspace::{PROGRAMS, Workspace, output};
use crate::{Error, Exit};
use folder::Folder;
use money::Dollars;
use recipe::{ModelChoice, Recipe};

/// The recipes, each a file `WORLD.json`.
const RECIPES: &str = "fixtures/campaigns";

/// The cap of a campaign without `--max-usd`.
const CAP: &str = "2";

/// Runs the campaigns that are named, or replays one.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    if let Some(folder) = arguments.value("--replay") {
        return check(workspace, Path::new(folder), arguments.has("--bless"));
    }
    let cap = arguments.value("--max-usd").unwrap_or(CAP);
    let cap = Dollars::parse(cap).ok_or_else(|| Error::Usage {
        reason: format!("--max-usd {cap}: expected dollars, such as 2 or 0.50"),
    })?;
    let [name] = &arguments.names[..] else {
        let reason = format!("name one campaign: {}, or all", PROGRAMS.join(", "));
        return Err(Error::Usage { reason });
    };
    let is_all = name == "all";
    if arguments.has("--local") {
        let names = if is_all {
            PROGRAMS.map(str::to_owned).to_vec()
        } else {
            vec![name.clone()]
        };
        return local::run(workspace, &names, cap);
    }
    if is_all {
        let reason = "all campaigns at once need --local: each asks before it sends".to_owned();
        return Err(Error::Usage { reason });
    }
    let value = |flag| arguments.value(flag).map(str::to_owned);
    let model = ModelChoice {
        provider: value("--provider"),
        base_url: value("--base-url"),
        model: value("--model"),
    };
    let recipe = Recipe::read(&workspace.root.join(RECIPES), name, &model)?;
    workspace.build_programs()?;
    let folder = match arguments.value("--dir") {
        Some(path) => Folder::at(Path::new(path))?,
        None => Folder::choose(workspace, &recipe, &today()?)?,
    };
    // A campaign that continues has the recipe that it began with.
    let recipe = folder.recipe()?.unwrap_or(recipe);
    if !live::is_shielded() {
        if !confirm::confirm(workspace, &recipe, cap, arguments.has("--yes"))? {
            return Ok(Exit::Done);
        }
        live::shield()?;
    }
    let exit = live::run(workspace, &recipe, &folder, cap)?;
    println!("{}", folder.path().display());
    Ok(exit)
}

/// Replays a kept campaign. Its files must be made again byte for byte, or are written by `is_blessed`: a page changes with the
/// program that draws it.
fn check(workspace: &Workspace, path: &Path, is_blessed: bool) -> Result<Exit, Error> {
    let folder = Folder::at(path)?;
    let Some(recipe) = folder.recipe()? else {
        let reason = format!("{}: no campaign, recipe.json is missing", path.display());
        return Err(Error::Usage { reason });
    };
    workspace.build_programs()?;
    let name = folder.path().display();
    if is_blessed {
        println!(
            "{name}: written; {}",
            replay::keep(workspace, &recipe, &folder)?
        );
        return Ok(Exit::Done);
    }
    let (label, differences) = replay::compare(workspace, &recipe, &folder)?;
    for difference in &differences {
        eprintln!("xtask: {name}: {difference}");
    }
    if differences.is_empty() {
        println!("{name}: replayed, the same bytes; {label}");
        return Ok(Exit::Done);
    }
    Ok(Exit::CheckFailed)
}

/// Today's date in UTC.
fn today() -> Result<String, Error> {
    let date = output(std::process::Command::new("date").args(["-u", "+%F"]))?;
    Ok(date.trim().to_owned())
}
