//! The commands that the prose of a page names in back-ticks.

use super::commands::calls;
use super::help::Help;
use super::page::Page;
use super::problem::Problem;
use super::prose;
use crate::workspace::PROGRAMS;

/// Checks that the programs have the commands that the prose of a page names, such as `popper check`.
pub fn check(page: &Page, helps: &[&Help]) -> Vec<Problem> {
    let calls = prose::code(page).into_iter().flat_map(|(index, code)| {
        let calls = calls(&code, &PROGRAMS).into_iter();
        calls.map(move |call| (index, call))
    });
    let paths: Vec<_> = helps.iter().map(|help| help.path.as_str()).collect();
    let problem = |(index, call): (usize, Vec<String>)| {
        let command = unknown(&call, &paths)?;
        let text = format!("no command `{command}`");
        Some(Problem::at(&page.name, index, text))
    };
    calls.filter_map(problem).collect()
}

/// The command of a call that its program does not have. Flags, values and placeholders are not read.
fn unknown(call: &[String], paths: &[&str]) -> Option<String> {
    let (program, words) = call.split_first()?;
    let mut path = program.clone();
    for word in words {
        let group = format!("{path} ");
        let is_group = paths.iter().any(|known| known.starts_with(&group));
        let is_name = word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if !is_group || !is_name {
            return None;
        }
        path = group + word;
        if !paths.contains(&path.as_str()) {
            return Some(path);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_looked_up_in_its_group() {
        let paths = ["p", "p run", "p new", "p new law"];
        for (call, found) in [
            ("p", None),
            ("p run fast", None),
            ("p new law x", None),
            ("p new", None),
            ("p --data x", None),
            ("p COMMAND", None),
            ("p runs", Some("p runs")),
            ("p new laws", Some("p new laws")),
        ] {
            let words: Vec<_> = call.split(' ').map(str::to_owned).collect();
            assert_eq!(unknown(&words, &paths).as_deref(), found, "{call}");
        }
    }
}
