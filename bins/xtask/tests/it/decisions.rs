//! The records in `docs/decisions`: their form, their numbers, and the index with the status of each.

use std::fs;
use std::path::Path;

use crate::packages::root;

/// The longest record, in lines.
const MAX_LINES: usize = 40;

/// The sections of a record, in order.
const SECTIONS: [&str; 3] = ["Context", "Decision", "Consequences"];

/// The verbs that a title begins with.
const VERBS: &[&str] = &[
    "Build", "Charge", "Check", "Count", "Disguise", "Draw", "Exchange", "Give", "Keep", "Let",
    "Make", "Name", "Pack", "Put", "Rank", "Read", "Record", "Remove", "Replace", "Run", "Share",
    "Split", "Store", "Tabulate", "Use", "Write",
];

/// A row of the index: a record with its file, or a number whose text moved.
#[derive(Debug, PartialEq)]
struct Row {
    number: String,
    file: Option<String>,
    title: String,
    status: String,
}

/// The rows of the index.
fn rows(index: &str) -> Vec<Row> {
    let rows = index.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let [number, title, status] = cells.split(" | ").collect::<Vec<_>>()[..] else {
            return None;
        };
        let (number, file) = match link(number) {
            Some((number, file)) => (number, Some(file.to_owned())),
            None => (number, None),
        };
        number.parse::<u16>().ok()?;
        Some(Row {
            number: number.to_owned(),
            file,
            title: title.to_owned(),
            status: status.to_owned(),
        })
    });
    rows.collect()
}

/// The text and the target of a link.
fn link(text: &str) -> Option<(&str, &str)> {
    let (text, target) = text.strip_prefix('[')?.split_once("](")?;
    Some((text, target.strip_suffix(')')?))
}

/// The faults of the rows: numbers with a gap or twice, and statuses that say nothing. `has_file` looks in the folder of the index.
fn index_faults(rows: &[Row], has_file: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for (row, expected) in rows.iter().zip(1..) {
        let number = &row.number;
        if *number != format!("{expected:04}") {
            faults.push(format!("{number} is in the place of {expected:04}"));
        }
        let is_known = |other: &str| rows.iter().any(|row| row.number == other);
        let superseded = row.status.strip_prefix("superseded by ");
        let is_fine = match (&row.file, row.status.strip_prefix("moved to ")) {
            (Some(_), None) => row.status == "accepted" || superseded.is_some_and(is_known),
            (None, Some(places)) => places
                .split(" and ")
                .all(|place| link(place).is_some_and(|(_, target)| has_file(target))),
            _ => false,
        };
        if !is_fine {
            faults.push(format!("{number} has the status \"{}\"", row.status));
        }
    }
    faults
}

/// The faults of a record, which the index lists with this row.
fn record_faults(row: &Row, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let title = format!("# {}: {}", row.number, row.title);
    if text.lines().next() != Some(&title) {
        faults.push(format!("the title is not \"{title}\", as in the index"));
    }
    let verb = row.title.split(' ').next().unwrap_or_default();
    if !VERBS.contains(&verb) || !row.title.contains(' ') || row.title.ends_with('.') {
        faults.push(format!("\"{}\" is not a verb and its object", row.title));
    }
    let sections: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    if sections != SECTIONS {
        faults.push(format!("its sections are {sections:?}"));
    }
    let parts = text.split("\n## ").skip(1);
    if parts
        .clone()
        .any(|part| part.lines().skip(1).all(str::is_empty))
    {
        faults.push("a section is empty".to_owned());
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        faults.push(format!("it has {lines} lines"));
    }
    faults
}

fn row(number: &str, file: Option<&str>, title: &str, status: &str) -> Row {
    Row {
        number: number.to_owned(),
        file: file.map(str::to_owned),
        title: title.to_owned(),
        status: status.to_owned(),
    }
}

#[test]
fn each_fault_of_the_index_is_found() {
    let index = "| number | title | status |\n|---|---|---|\n| [0001](0001-a.md) | Keep it | accepted |\n| 0002 | Old | moved to [a](b.md) |\n";
    let rows = rows(index);
    let expected = [
        row("0001", Some("0001-a.md"), "Keep it", "accepted"),
        row("0002", None, "Old", "moved to [a](b.md)"),
    ];
    assert_eq!(rows, expected);
    assert_eq!(index_faults(&rows, |target| target == "b.md"), [""; 0]);
    assert_eq!(index_faults(&rows, |_| false).len(), 1);
    let file = Some("a.md");
    for (number, file, status) in [
        ("0001", file, "accepted"),
        ("0003", file, "accepted"),
        ("0002", file, "superseded by 0007"),
        ("0002", file, "moved to [a](b.md)"),
        ("0002", None, "accepted"),
        ("0002", file, "open"),
    ] {
        let rows = [
            row("0001", Some("b.md"), "", "accepted"),
            row(number, file, "", status),
        ];
        assert_eq!(index_faults(&rows, |_| true).len(), 1, "{number} {status}");
    }
    let rows = [
        row("0001", file, "", "superseded by 0002"),
        row("0002", file, "", "accepted"),
    ];
    assert_eq!(index_faults(&rows, |_| true), [""; 0]);
}

#[test]
fn each_fault_of_a_record_is_found() {
    let text = "# 0001: Keep it\n\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\nc\n";
    let good = row("0001", None, "Keep it", "");
    assert_eq!(record_faults(&good, text), [""; 0]);
    let long = format!("{text}{}", "d\n".repeat(MAX_LINES));
    for bad in [
        text.replace("Keep it", "Keep that"),
        text.replace("0001", "0002"),
        text.replace("## Decision", "## Reasons"),
        text.replace("\nb\n", "\n"),
        long,
    ] {
        assert_eq!(record_faults(&good, &bad).len(), 1, "{bad}");
    }
    for title in ["The keeping of it", "Keep", "Keep it."] {
        let text = text.replace("Keep it", title);
        let faults = record_faults(&row("0001", None, title, ""), &text);
        assert_eq!(faults.len(), 1, "{title}");
    }
}

/// The files of a folder that are records.
fn records(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "README.md").collect();
    names.sort();
    names
}

#[test]
fn every_record_has_its_form_and_its_row() {
    let folder = root().join("docs/decisions");
    let rows = rows(&fs::read_to_string(folder.join("README.md")).unwrap());
    let mut faults = index_faults(&rows, |target| folder.join(target).is_file());
    let mut listed: Vec<_> = rows.iter().filter_map(|row| row.file.clone()).collect();
    listed.sort();
    assert_eq!(records(&folder), listed, "the rows of the index");
    assert!(listed.len() > 20, "{listed:?}");
    for row in &rows {
        let Some(file) = &row.file else { continue };
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let found = record_faults(row, &text).into_iter();
        faults.extend(found.map(|fault| format!("{file}: {fault}")));
        if !file.starts_with(&format!("{}-", row.number)) {
            faults.push(format!("{file}: its number is not {}", row.number));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
