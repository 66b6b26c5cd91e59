//! The sections of the guides: each is a task, or something to look up (rule 12 of `docs/style.md`).

use std::fs;

use crate::packages::root;

const GUIDES: [&str; 6] = [
    "README.md",
    "docs/hermitcrab.md",
    "docs/logosphere.md",
    "docs/popper.md",
    "docs/universe.md",
    "docs/zer0gravity.md",
];

/// The verbs that a task begins with.
const VERBS: &[&str] = &[
    "Build",
    "Check",
    "Choose",
    "Compare",
    "Find",
    "Give",
    "Limit",
    "Read",
    "Refute",
    "Replay",
    "Rescore",
    "Resume",
    "Run",
    "Score",
    "See",
    "Start",
    "Stop",
    "Talk",
    "Understand",
    "Use",
    "Verify",
    "Write",
];

/// The sections to look up.
const REFERENCE: &[&str] = &[
    "A function",
    "A law file",
    "A type",
    "A universe file",
    "Configuration",
    "Exit codes",
    "Expectations",
    "Expressions and claims",
    "File formats",
    "Licence",
    "Limits",
    "The file",
    "Verdicts",
];

/// The headings below the title, outside of code.
fn headings(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("```").step_by(2).flat_map(str::lines);
    prose.filter_map(|line| {
        line.strip_prefix("##")?
            .trim_start_matches('#')
            .strip_prefix(' ')
    })
}

#[test]
fn each_section_of_a_guide_is_a_task_or_a_reference() {
    let mut seen = 0;
    for guide in GUIDES {
        let page = fs::read_to_string(root().join(guide)).unwrap();
        for heading in headings(&page) {
            seen += 1;
            let verb = heading.split(' ').next().unwrap();
            // A field of a universe file is a reference, too.
            let is_field = heading.starts_with(char::is_lowercase);
            assert!(
                VERBS.contains(&verb) || REFERENCE.contains(&heading) || is_field,
                "{guide}: \"{heading}\" is no task (docs/style.md, prose 12)"
            );
        }
    }
    assert!(seen > 50, "{seen}");
}
