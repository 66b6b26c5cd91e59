//! The sections of the guides: each is a task, or something to look up (rule 12 of `docs/style.md`).

use std::fs;

use crate::packages::root;
use crate::rust_source::files;

/// The pages under `docs` other than guides: records, and rules for contributors. So are the pages in `docs/decisions`.
const OTHERS: [&str; 3] = ["docs/benchmarks.md", "docs/peers.md", "docs/style.md"];

/// The verbs that a task begins with.
const VERBS: &[&str] = &[
    "Ask",
    "Bring",
    "Build",
    "Check",
    "Choose",
    "Compare",
    "Continue",
    "Correct",
    "Define",
    "Discover",
    "Explain",
    "Find",
    "Give",
    "Keep",
    "Label",
    "Let",
    "Limit",
    "Move",
    "Plan",
    "Play",
    "Prove",
    "Read",
    "Replay",
    "Rescore",
    "Resume",
    "Run",
    "Score",
    "Seal",
    "See",
    "Start",
    "Stop",
    "Talk",
    "Understand",
    "Undo",
    "Use",
    "Verify",
    "Write",
];

/// The sections to look up, each with its guide, or with none for every guide.
const REFERENCE: &[(&str, &str)] = &[
    ("", "Exit codes"),
    ("", "Limits"),
    ("README.md", "Install"),
    ("README.md", "Status and limits"),
    ("docs/popper-laws.md", "Claims"),
    ("docs/popper-laws.md", "Observables"),
    ("docs/popper-laws.md", "The law file"),
    ("docs/popper-verdicts.md", "Configuration"),
    ("docs/universe-format.md", "The file"),
];

/// The guides among pages, which are given by their paths in the repository.
fn guides(pages: impl Iterator<Item = String>) -> Vec<String> {
    let is_guide =
        |page: &String| !OTHERS.contains(&page.as_str()) && !page.starts_with("docs/decisions/");
    pages.filter(is_guide).collect()
}

/// The headings below the title, outside of code: lines with `##`, and lines that are underlined.
fn headings(page: &str) -> Vec<&str> {
    let (mut found, mut before, mut is_code) = (Vec::new(), "", false);
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= is_fence;
        let marks = line.len() - line.trim_start_matches('#').len();
        let is_underline = !line.is_empty()
            && ['-', '=']
                .iter()
                .any(|it| line.trim_matches(*it).is_empty());
        if !is_code && marks > 1 {
            found.push(line[marks..].trim());
        } else if !is_code && is_underline && !before.is_empty() {
            found.push(before);
        }
        before = line;
    }
    found
}

/// Whether a heading of a guide is a task, a row of [`REFERENCE`] or a field of the page's first table of fields.
fn is_fine(guide: &str, page: &str, heading: &str) -> bool {
    let is_task = heading
        .split_once(' ')
        .is_some_and(|(verb, _)| VERBS.contains(&verb));
    is_task
        || REFERENCE.contains(&(guide, heading))
        || REFERENCE.contains(&("", heading))
        || page.contains(&format!("\n| `{heading}` | "))
}

#[test]
fn a_page_and_a_heading_that_do_not_fit_are_found() {
    let pages = [
        "README.md",
        "docs/style.md",
        "docs/decisions/0001-a.md",
        "docs/a/b.md",
    ];
    let found = guides(pages.map(str::to_owned).into_iter());
    assert_eq!(found, ["README.md", "docs/a/b.md"]);
    let page = "# Title\n\n## Run it\n\n```sh\n## no\n```\n### a.b ###\n~~~\n## no\n~~~\nOther\n---\n\n---\n|---|\n####Last\n";
    assert_eq!(headings(page), ["Run it", "a.b ###", "Other", "Last"]);
    let page = "\n| `a.b` | text |\n";
    for (heading, fine) in [
        ("Run a model", true),
        ("a.b", true),
        ("what is kept", false),
        ("Install", true),
        ("Limits", true),
        ("Claims", false),
        ("Models", false),
        ("Run", false),
    ] {
        assert_eq!(is_fine("README.md", page, heading), fine, "{heading}");
    }
}

#[test]
fn each_section_of_a_guide_is_a_task_or_a_reference() {
    let root = root().canonicalize().unwrap();
    let pages = files(&root.join("docs"), "md").into_iter();
    let pages = pages.map(|page| {
        page.strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/")
    });
    let mut seen = 0;
    for guide in guides(pages.chain(["README.md".to_owned()])) {
        let page = fs::read_to_string(root.join(&guide)).unwrap();
        for heading in headings(&page) {
            seen += 1;
            assert!(
                is_fine(&guide, &page, heading),
                "{guide}: \"{heading}\" is no task (docs/style.md, prose 12)"
            );
        }
    }
    assert!(seen > 50, "{seen}");
}

/// The walk through all pages and helps.
#[cfg(unix)]
#[test]
fn each_block_and_each_example_works() {
    let (code, said) = crate::docs::here(&[]);
    assert_eq!(code, Some(0), "{said}");
}
