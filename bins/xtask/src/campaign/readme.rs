//! The README of a campaign's folder.

use super::recipe::Recipe;
use super::record::Record;

/// The text, which follows from the recipe and the record alone.
pub fn text(recipe: &Recipe, record: &Record, label: &str) -> String {
    let list = |names: &std::collections::BTreeSet<String>| {
        let names: Vec<_> = names.iter().cloned().collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    let facts = recipe.facts();
    let fact = |key: &str| facts[key].as_str().unwrap_or("unknown").to_owned();
    let limits: Vec<_> = (recipe.limits.iter())
        .map(|limit| format!("- {limit}"))
        .collect();
    let limits = limits.join("\n");
    format!(
        "# Campaign {world}\n\n{label}\n\n{question}\n\n\
         | fact | value |\n|---|---|\n\
         | model as the server named it | {models} |\n\
         | model that was asked for | {model} |\n\
         | provider | {providers} |\n\
         | date | {day} |\n\
         | cost | ${spent} |\n\
         | calls | {calls} |\n\
         | commit | {commit} |\n\n\
         `recipe.json` has the commands, `cassette.jsonl` all exchanges with the model, `result.json` the numbers, and\n\
         `{page}` is for a reader. The last two are made by a replay.\n\n\
         ## Replay it\n\n\
         `cargo xtask campaign --replay DIR` with this folder as DIR makes the files again, without network and key, and\n\
         ends with 4 if a byte differs.\n\n\
         ## What it does not show\n\n{limits}\n",
        world = recipe.world,
        question = recipe.question,
        models = list(&record.models),
        model = recipe.model,
        providers = list(&record.providers),
        day = record.day.as_deref().unwrap_or("unknown"),
        spent = fact("spent_usd"),
        calls = record.calls,
        commit = fact("commit"),
        page = recipe.page,
    )
}
