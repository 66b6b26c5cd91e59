//! Checks of the pages that run no block: lengths, flags, the commands that guides name.

use super::commands::{calls, commands, words};
use super::help::Help;
use super::page::{Fence, Page};
use super::problem::Problem;
use crate::workspace::PROGRAMS;

/// Pages with flags of other programs than the four: records, and rules for contributors.
const RECORDS: [&str; 3] = ["docs/benchmarks.md", "docs/peers.md", "docs/style.md"];

/// The most lines of the README, and of a guide.
const README_LINES: usize = 150;
const GUIDE_LINES: usize = 220;

pub fn is_guide(page: &Page) -> bool {
    let is_page = page.name == "README.md" || page.name.starts_with("docs/");
    is_page && page.name.matches('/').count() < 2 && !RECORDS.contains(&page.name.as_str())
}

/// Checks the length of a guide.
pub fn length(page: &Page) -> Option<Problem> {
    let lines = page.lines.len();
    let most = if page.name == "README.md" {
        README_LINES
    } else {
        GUIDE_LINES
    };
    let text = format!("{lines} lines, at most {most}");
    (lines > most).then(|| Problem::of(page.name.clone(), text))
}

/// Checks that some help has each flag of a guide: in the calls of its blocks, and in the code of its prose.
pub fn flags(page: &Page, helps: &[&Help]) -> Vec<Problem> {
    let mut named = Vec::new();
    for block in &page.blocks {
        if matches!(block.fence, Fence::Console | Fence::Shell | Fence::Unrun) {
            let lines = page.text(block);
            let lines = lines
                .iter()
                .map(|line| line.strip_prefix("$ ").unwrap_or(line));
            for (index, command) in commands(&lines.collect::<Vec<_>>()) {
                let calls = calls(&command, &PROGRAMS).into_iter().flatten();
                named.extend(calls.map(|word| (block.begin + index, word)));
            }
        }
    }
    for (index, line) in page.prose() {
        let spans = line.split('`').skip(1).step_by(2);
        let spans = spans.filter(|span| !is_of_another(span));
        named.extend(spans.flat_map(words).map(|word| (index, word)));
    }
    let flags = named
        .into_iter()
        .filter_map(|(index, word)| Some((index, flag(&word)?)));
    let unknown = flags.filter(|(_, flag)| !helps.iter().any(|help| help.has_flag(flag)));
    let problem = |(index, flag)| Problem::at(&page.name, index, format!("no help has {flag}"));
    unknown.map(problem).collect()
}

/// The long flag that a word begins with.
fn flag(word: &str) -> Option<String> {
    let name = word
        .strip_prefix("--")
        .filter(|name| !name.starts_with('-'))?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let name = &name[..end.unwrap_or(name.len())];
    (!name.is_empty()).then(|| format!("--{name}"))
}

/// Whether a piece of code calls another program than the four.
fn is_of_another(span: &str) -> bool {
    let first = span.split(' ').next().unwrap_or_default();
    ["cargo", "createdb", "git", "just", "psql", "sqlite3"].contains(&first)
}

/// Checks that each command is in a guide: with the program's name or `NAME` anywhere, or without it in code of the program's own guide.
pub fn unnamed(pages: &[Page], helps: &[&Help]) -> Vec<Problem> {
    let guides: Vec<_> = pages.iter().filter(|page| is_guide(page)).collect();
    let texts: Vec<_> = guides
        .iter()
        .map(|page| (&page.name, page.lines.join("\n")))
        .collect();
    let is_named = |help: &Help| {
        let (program, command) = help.path.split_once(' ').unwrap_or((&help.path, ""));
        let own = format!("docs/{program}.md");
        texts.iter().any(|(name, text)| {
            has_words(text, &help.path)
                || has_words(text, &format!("NAME {command}"))
                || **name == own && has_words(text, &format!("`{command}"))
        })
    };
    let is_group = |help: &Help| {
        let inner = format!("{} ", help.path);
        helps.iter().any(|other| other.path.starts_with(&inner))
    };
    let unnamed = helps
        .iter()
        .filter(|help| !is_group(help) && !is_named(help));
    unnamed
        .map(|help| Problem::of(help.path.clone(), "no guide names this command".to_owned()))
        .collect()
}

/// Whether a text has these words, with no further letter at their end.
fn has_words(text: &str, words: &str) -> bool {
    let mut found = text.match_indices(words);
    found.any(|(begin, _)| {
        let rest = &text[begin + words.len()..];
        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-')
    })
}
