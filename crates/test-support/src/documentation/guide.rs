use std::fs;

use crate::fixture;

/// A page of `docs/`, whose commands, outputs and tables a test holds against the program.
#[derive(Clone, Debug)]
pub struct Guide(String);

impl Guide {
    /// Reads a page by its name: `docs/NAME.md`.
    pub fn read(name: &str) -> Self {
        Self(fs::read_to_string(fixture(format!("../docs/{name}.md"))).unwrap())
    }

    /// The text of the page.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The part under the heading `## HEADING`.
    #[must_use]
    pub fn section(&self, heading: &str) -> Self {
        let found = self.0.split_once(&format!("\n## {heading}\n"));
        let (_, rest) = found.unwrap_or_else(|| panic!("no section {heading}"));
        Self(rest.split("\n## ").next().unwrap().to_owned())
    }

    /// The code blocks of a language, in their order.
    pub fn blocks(&self, language: &str) -> Vec<&str> {
        let begin = format!("```{language}\n");
        let parts = self.0.split(begin.as_str()).skip(1);
        parts.filter_map(|part| part.split("```").next()).collect()
    }

    /// The rows of the table with this head, cell by cell.
    pub fn table(&self, head: &str) -> Vec<Vec<&str>> {
        let found = self.0.split_once(&format!("\n{head}\n"));
        let (_, rest) = found.unwrap_or_else(|| panic!("no table {head}"));
        let rows = rest.lines().skip(1);
        let rows = rows.take_while(|line| line.starts_with('|'));
        rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
            .collect()
    }
}
