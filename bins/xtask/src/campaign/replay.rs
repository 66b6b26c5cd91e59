//! The replay of a campaign, which makes what is kept.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::folder::{Folder, file_error, read, remove, write};
use super::money::Dollars;
use super::readme;
use super::recipe::Recipe;
use super::record::{Record, label};
use super::work::Work;
use crate::Error;
use crate::workspace::Workspace;

/// The files that a replay makes, by name.
struct Kept {
    label: String,
    files: Vec<(String, String)>,
}

/// Replays the campaign and writes its files into the folder. Returns the label.
pub fn keep(workspace: &Workspace, recipe: &Recipe, folder: &Folder) -> Result<String, Error> {
    let kept = make(workspace, recipe, folder)?;
    for (name, text) in &kept.files {
        write(&folder.path().join(name), text)?;
    }
    Ok(kept.label)
}

/// Replays the campaign and compares its files with those in the folder. Returns the label, and a phrase for each difference.
pub fn compare(
    workspace: &Workspace,
    recipe: &Recipe,
    folder: &Folder,
) -> Result<(String, Vec<String>), Error> {
    let kept = make(workspace, recipe, folder)?;
    let mut differences = Vec::new();
    for (name, text) in &kept.files {
        let path = folder.path().join(name);
        let found = fs::read(&path).map_err(|source| file_error(&path, source))?;
        if found != text.as_bytes() {
            let found = String::from_utf8_lossy(&found);
            differences.push(first_difference(name, &found, text));
        }
    }
    Ok((kept.label, differences))
}

fn first_difference(name: &str, kept: &str, made: &str) -> String {
    let mut lines = kept.lines().zip(made.lines());
    let same = lines.by_ref().take_while(|(kept, made)| kept == made);
    let number = same.count() + 1;
    format!("{name} differs from line {number} on")
}

/// Replays all steps in an empty folder, with the cassette next to it.
fn make(workspace: &Workspace, recipe: &Recipe, folder: &Folder) -> Result<Kept, Error> {
    let name = format!("replay-{}", std::process::id());
    let place = workspace.campaign_folder(&name)?;
    remove(&place)?;
    let live = place.join("live");
    fs::create_dir_all(&live).map_err(|source| file_error(&live, source))?;
    let cassette = place.join("cassette.jsonl");
    folder.unpack(&cassette)?;
    recipe.write_files(&live)?;
    let facts = recipe.facts();
    let spent = facts["spent_usd"].as_str().and_then(Dollars::parse);
    let cut = (facts["cut"] == true).then_some(recipe.calls);
    let record = Record::read(&cassette)?;
    let label = label(&record, spent.unwrap_or_default(), cut);
    let work = Work::new(workspace, recipe, live, false);
    let result = result(&work, recipe, &label)?;
    let page = labelled(&work.folder().join(&recipe.page), &label)?;
    remove(&place)?;
    let files = vec![
        ("result.json".to_owned(), format!("{result:#}\n")),
        (recipe.page.clone(), page),
        (
            "README.md".to_owned(),
            readme::text(recipe, &record, &label),
        ),
    ];
    Ok(Kept { label, files })
}

/// Runs the steps and the commands of the result.
fn result(work: &Work<'_>, recipe: &Recipe, label: &str) -> Result<Value, Error> {
    let mut steps = Vec::new();
    let (mut met, mut expected) = (0, 0);
    for step in &recipe.steps {
        let ended = work.step(step, &step.command, &work.replay_flags(step))?;
        let mut row = json!({"command": step.command.join(" "), "exit": ended.code});
        if let Some(said) = &step.stdin {
            row["said"] = json!(said);
        }
        if let Some(text) = &step.expect {
            let is_met = ended.stdout.contains(text.as_str());
            expected += 1;
            met += u64::from(is_met);
            row["expected"] = json!(text);
            row["met"] = json!(is_met);
        }
        steps.push(row);
    }
    let mut results = serde_json::Map::new();
    for (name, command) in &recipe.results {
        let ended = work.run(command, &[], None)?;
        let parsed = serde_json::from_str(&ended.stdout);
        results.insert(name.clone(), parsed.unwrap_or(Value::String(ended.stdout)));
    }
    Ok(json!({
        "schema_version": 1,
        "world": recipe.world,
        "label": label,
        "question": recipe.question,
        "steps": steps,
        "expected_answers": {"met": met, "of": expected},
        "results": results,
    }))
}

/// The page with the label under its title, or the transcript with the label as its first line.
fn labelled(path: &Path, label: &str) -> Result<String, Error> {
    let text = read(path)?;
    let is_page = path
        .extension()
        .is_some_and(|extension| extension == "html");
    if !is_page {
        return Ok(format!("{label}\n\n{text}"));
    }
    let (title, rest) = text.split_once("</h1>").ok_or_else(|| Error::Output {
        path: path.to_owned(),
    })?;
    let label = label
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    Ok(format!("{title}</h1><p><strong>{label}</strong></p>{rest}"))
}
