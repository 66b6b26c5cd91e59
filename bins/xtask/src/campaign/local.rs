//! Campaigns against the small model on this machine.

use super::folder::{Folder, remove};
use super::money::Dollars;
use super::recipe::{ModelChoice, Recipe};
use super::{RECIPES, live, replay};
use crate::workspace::Workspace;
use crate::{Error, Exit, peers};

/// The peer that is the server of the model.
const PEER: &str = "local";
/// The name of the model, as its server answers.
const MODEL: &str = "SmolLM2-135M-Instruct";

/// Starts the server, runs these campaigns, replays each, and stops the server. Their folders are in the target folder, since
/// such a run proves nothing.
pub fn run(workspace: &Workspace, names: &[String], cap: Dollars) -> Result<Exit, Error> {
    let server = peers::start(workspace, PEER)?;
    let model = ModelChoice {
        provider: Some("llamacpp".to_owned()),
        base_url: Some(format!("{}/v1", server.url())),
        model: Some(MODEL.to_owned()),
    };
    workspace.build_programs()?;
    let mut worst = Exit::Done;
    for name in names {
        let recipe = Recipe::read(&workspace.root.join(RECIPES), name, &model)?;
        let path = workspace.campaign_folder(&format!("local-{name}"))?;
        remove(&path)?;
        let folder = Folder::at(&path)?;
        let exit = live::run(workspace, &recipe, &folder, cap)?;
        worst = worst.max(exit);
        let kept = folder.recipe()?.unwrap_or(recipe);
        let (_, differences) = replay::compare(workspace, &kept, &folder)?;
        for difference in &differences {
            eprintln!("xtask: {}: {difference}", path.display());
            worst = worst.max(Exit::CheckFailed);
        }
        println!("{}", path.display());
    }
    Ok(worst)
}
