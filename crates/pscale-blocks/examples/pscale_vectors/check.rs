//! A check of the crate against a file of vectors. Shared with the tests, which include this file.

use pscale_blocks::{
    Appended, Block, BlockError, FormatErrors, NodeLine, Path, Summary, SummaryKind,
};
use serde_json::{Value, json};

/// One array of the file.
pub struct Group {
    /// The key of the array.
    pub name: String,
    /// The number of cases that were run.
    pub total: usize,
    /// One line for each case that is not as the file says.
    pub failures: Vec<String>,
    /// The number of cases that were not run.
    pub skipped: usize,
    /// The reason why cases were not run.
    pub why_skipped: &'static str,
}

impl Group {
    /// The number of cases that are as the file says.
    pub fn passed(&self) -> usize {
        self.total - self.failures.len()
    }
}

/// The result of a case, in the form of its `expected`.
type Run = fn(case: &Value, file: &Value) -> Result<Value, Failed>;

enum Failed {
    /// An operation's answer, which may be what is expected.
    Error(Value),
    /// The case is not of the format.
    Case(String),
}

impl From<BlockError> for Failed {
    fn from(error: BlockError) -> Self {
        Self::Error(match &error {
            BlockError::NotFound { path, deepest, .. } => {
                json!({"error": error.kind(), "path": path, "deepest": deepest})
            }
            BlockError::NewRoot { path, head } => {
                json!({"error": error.kind(), "path": path, "head": head})
            }
            _ => json!({ "error": error.kind() }),
        })
    }
}

impl From<pscale_blocks::PathError> for Failed {
    fn from(error: pscale_blocks::PathError) -> Self {
        BlockError::from(error).into()
    }
}

impl From<FormatErrors> for Failed {
    fn from(error: FormatErrors) -> Self {
        Self::Error(json!({ "error": error.kind() }))
    }
}

const RUNS: [(&str, Run); 8] = [
    ("path_parse", path_parse),
    ("strict_parse", strict_parse),
    ("path_read", path_read),
    ("path_write", path_write),
    ("pscale0_and_depth1", head_and_below),
    ("compact_coord", compact_coord),
    ("bsp", older_address),
    ("grow_append", grow_append),
];

/// Groups that other crates' programs run.
const ELSEWHERE: [(&str, &str); 2] = [
    ("trim", "hermitcrab-kernel runs them"),
    ("jsx", "the shell compiler's crate runs them"),
];

/// A block that the file does not hold: the default one of hermitcrab-kernel, whose tests run these cases.
const KEYSTONE: &str = "keystone";

/// The keys of the file that are not groups.
const TOLD: [&str; 4] = ["about", "blocks", "bsp_blocks", "tool_round_shape"];

/// Every group of the file in the order of the format, or what is wrong with the file.
pub fn groups(file: &Value) -> Result<Vec<Group>, String> {
    let entries = file.as_object().ok_or("the file is no JSON object")?;
    let known = |name: &str| {
        TOLD.contains(&name)
            || RUNS.iter().any(|(known, _)| *known == name)
            || ELSEWHERE.iter().any(|(known, _)| *known == name)
    };
    if let Some(name) = entries.keys().find(|name| !known(name)) {
        return Err(format!("`{name}` is no group of the format"));
    }
    let cases = |name: &str| match entries.get(name) {
        None => Ok(None),
        Some(Value::Array(cases)) => Ok(Some(cases)),
        Some(_) => Err(format!("`{name}` is no array")),
    };
    let mut groups = Vec::new();
    for (name, run) in RUNS {
        let Some(cases) = cases(name)? else {
            continue;
        };
        let (skipped, cases): (Vec<_>, Vec<_>) = cases
            .iter()
            .partition(|case| case["block"] == KEYSTONE && file["blocks"][KEYSTONE].is_null());
        let failures = cases.iter().filter_map(|case| {
            let failure = check(case, file, run).err()?;
            Some(format!("{name}: {case}: {failure}"))
        });
        groups.push(Group {
            name: name.to_owned(),
            total: cases.len(),
            failures: failures.collect(),
            skipped: skipped.len(),
            why_skipped: "hermitcrab-kernel has the default keystone",
        });
    }
    for (name, why_skipped) in ELSEWHERE {
        if let Some(cases) = cases(name)? {
            groups.push(Group {
                name: name.to_owned(),
                total: 0,
                failures: Vec::new(),
                skipped: cases.len(),
                why_skipped,
            });
        }
    }
    Ok(groups)
}

fn check(case: &Value, file: &Value, run: Run) -> Result<(), String> {
    let mut expected = case["expected"].clone();
    // Texts of messages are free, and an address in an older grammar is not what we answer.
    if let Some(expected) = expected.as_object_mut() {
        for told in ["reason", "our_path", "head"] {
            if expected.contains_key("error") {
                expected.remove(told);
            }
        }
    }
    let found = match run(case, file) {
        Ok(found) => found,
        Err(Failed::Error(mut error)) => {
            if let Some(error) = error.as_object_mut() {
                error.retain(|key, _| expected.get(key).is_some());
            }
            error
        }
        Err(Failed::Case(why)) => return Err(why),
    };
    if found == expected {
        Ok(())
    } else {
        Err(format!("found {found}"))
    }
}

fn text<'a>(case: &'a Value, key: &str) -> Result<&'a str, Failed> {
    let text = case[key].as_str();
    text.ok_or_else(|| Failed::Case(format!("`{key}` is no text")))
}

fn path(case: &Value, key: &str) -> Result<Path, Failed> {
    Ok(text(case, key)?.parse::<Path>()?)
}

/// The sample block of a case, loaded leniently: some hold what a strict load refuses.
fn sample(case: &Value, blocks: &Value) -> Result<Block, Failed> {
    let name = text(case, "block")?;
    let block = blocks.get(name);
    let block = block.ok_or_else(|| Failed::Case(format!("there is no block `{name}`")))?;
    Ok(Block::parse_lenient(&block.to_string())?.0)
}

fn path_parse(case: &Value, _: &Value) -> Result<Value, Failed> {
    let path = path(case, "input")?;
    Ok(json!({"path": path, "depth": path.depth()}))
}

fn strict_parse(case: &Value, _: &Value) -> Result<Value, Failed> {
    Ok(match Block::parse(text(case, "raw")?) {
        Ok(block) => json!({"ok": true, "normal": block}),
        Err(error) => json!({"ok": false, "error": error.kind()}),
    })
}

fn path_read(case: &Value, file: &Value) -> Result<Value, Failed> {
    let block = sample(case, &file["blocks"])?;
    Ok(json!(block.view(&path(case, "path")?)?))
}

fn path_write(case: &Value, file: &Value) -> Result<Value, Failed> {
    let mut block = sample(case, &file["blocks"])?;
    let before = block.clone();
    let written =
        path(case, "path").and_then(|path| Ok(block.write(&path, text(case, "content")?)?));
    match written {
        Ok(change) => Ok(json!({"path": change.path, "block_after": block})),
        Err(_) if block != before => Err(Failed::Case("a failed write changed the block".into())),
        Err(error) => Err(error),
    }
}

fn head_and_below(case: &Value, file: &Value) -> Result<Value, Failed> {
    let block = sample(case, &file["blocks"])?;
    let head = block.view(&block.head())?;
    Ok(json!({"head": head.path, "text": block.head_text(), "depth1": head.children}))
}

fn compact_coord(case: &Value, file: &Value) -> Result<Value, Failed> {
    let block = sample(case, &file["blocks"])?;
    let path = path(case, "coord")?;
    let below = |path: &Path| -> Vec<Path> {
        let steps = block.subtree(path, Some(1)).unwrap_or_default();
        let paths = steps.iter().map(|step| step.path);
        paths.filter(|found| found.depth() > path.depth()).collect()
    };
    let parent = path.parent().filter(|parent| !parent.is_root());
    let siblings = path.parent().map(|parent| below(&parent));
    let siblings = siblings.into_iter().flatten().filter(|node| *node != path);
    Ok(json!({
        "path": path,
        "compact": path.compact(block.decimal()),
        "pscale": block.pscale(&path),
        "text": block.text(&path).ok().flatten(),
        "parent": parent,
        "children": below(&path),
        "siblings": siblings.collect::<Vec<_>>(),
    }))
}

fn older_address(case: &Value, file: &Value) -> Result<Value, Failed> {
    let block = sample(case, &file["bsp_blocks"])?;
    let expected = &case["expected"];
    let path = path(expected, "our_path")?;
    let mut found = json!({"our_path": path});
    if let Some(pscale) = expected.get("point_pscale") {
        let at = |step: &NodeLine| json!(step.pscale) == *pscale;
        let point = block.spindle(&path)?.into_iter().find(at);
        found["view"] = "spindle".into();
        found["point_pscale"] = pscale.clone();
        found["point"] = json!(point);
        return Ok(found);
    }
    let view = expected["view"].as_str().unwrap_or("spindle");
    found["view"] = view.into();
    found[view] = match view {
        "spindle" => json!(block.spindle(&path)?),
        "node" => json!(block.view(&path)?),
        "subtree" => json!(block.subtree(&path, None)?),
        other => return Err(Failed::Case(format!("`{other}` is no view"))),
    };
    Ok(found)
}

fn grow_append(case: &Value, _: &Value) -> Result<Value, Failed> {
    let mut block = Block::parse(&case["block"].to_string())?;
    let before = block.clone();
    let args = &case["args"];
    let summary = args["summary"].as_str().map(|text| Summary {
        kind: SummaryKind::Summary,
        text: text.to_owned(),
    });
    if case["op"] == "grow" {
        let missing = || Failed::Case("`summary` is no text".to_owned());
        block.grow(&summary.ok_or_else(missing)?)?;
        return Ok(json!({ "block_after": block }));
    }
    match block.append(text(args, "content")?, summary)? {
        Appended::Written { path, .. } => Ok(json!({"path": path, "block_after": block})),
        Appended::NeedsSummary {
            at, grows, entries, ..
        } => {
            let entries: Vec<_> = entries.iter().map(|step| step.path).collect();
            let mut found = json!({"needs_summary": at, "grow": grows, "entries": entries});
            if block != before {
                found["block_after"] = json!(block);
            }
            Ok(found)
        }
    }
}
