//! Manual pages, generated from the command line that the program parses.

use std::io::{self, Write as _};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::Failure;
use crate::output::OutputFile;

/// Returns the page of a command.
pub(crate) fn page(command: &Command) -> io::Result<Vec<u8>> {
    let version = command.get_version().unwrap_or_default();
    let source = format!("{} {version}", command.get_name());
    let man = Man::new(command.clone()).source(source);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(end) = command.get_after_help() {
        page.write_all(end_of_help(&end.to_string()).as_bytes())?;
    }
    Ok(page)
}

/// Writes the page of the program and of each command into a folder and returns the number of pages.
pub(crate) fn write(command: Command, folder: &Path) -> Result<usize, Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    let begin = |name: &str| OutputFile::begin_checked(&folder.join(name), [] as [&Path; 0]);
    let begun: Result<Vec<_>, _> = pages.iter().map(|(name, _)| begin(name)).collect();
    for (file, (_, page)) in begun?.into_iter().zip(&pages) {
        file.finish(|file| file.write_all(page))?;
    }
    Ok(pages.len())
}

fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    pages.push((format!("{name}.1"), page(command)?));
    let inner = command.get_subcommands().filter(|one| !one.is_hide_set());
    inner.into_iter().try_for_each(|one| collect(one, pages))
}

/// Returns the end of a help with its line breaks, so that an example can be copied from the page.
fn end_of_help(text: &str) -> String {
    let mut page = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if line == "Examples:" {
            page.push_str(".SH EXAMPLES\n.nf\n");
        } else if line.starts_with("Guide: ") {
            page.push_str(".fi\n.SH \"SEE ALSO\"\n");
            page.push_str(&(literal(line) + "\n"));
        } else {
            page.push_str(&(literal(line.trim()) + "\n"));
        }
    }
    page
}

/// Escapes a line for roff, so that quotes and dashes stay ASCII.
fn literal(line: &str) -> String {
    let mut escaped = String::from("\\&");
    for character in line.chars() {
        match character {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '~' => escaped.push_str("\\(ti"),
            '^' => escaped.push_str("\\(ha"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_keeps_its_characters() {
        let end = end_of_help("Examples:\n  p run '>.<.' --n 4\n\nGuide: docs/p.md");
        assert_eq!(
            end,
            ".SH EXAMPLES\n.nf\n\\&p run \\(aq>.<.\\(aq \\-\\-n 4\n.fi\n.SH \"SEE ALSO\"\n\\&Guide: docs/p.md\n"
        );
        assert_eq!(literal(".TH a\\b"), "\\&.TH a\\eb");
    }
}
