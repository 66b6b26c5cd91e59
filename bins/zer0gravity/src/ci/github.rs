//! Annotations and the step summary of GitHub.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use bin_support::{Session, escape};
use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::judge::flags::Severity;
use zer0gravity_engine::report::RunReport;

use crate::flags::named;
use crate::ranking;

/// The most lines of one command, because GitHub shows no more of a step.
const MOST: usize = 10;

/// The variable with the file of the step summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Prints lines on stderr for the checks that do not hold, for inputs left out, for failed experiments and for critical flags. A
/// closed stderr is not a failure.
pub fn annotate(results: &[ExperimentResult], left_out: Option<&str>, failed: &[String]) {
    let inputs = left_out.map(|text| annotation("error", "texts", text));
    let checks = failed.iter().map(|text| annotation("error", "check", text));
    let errors = results.iter().filter(|result| !result.outcome.is_ok());
    let errors = errors.map(|result| {
        let reason = result.outcome.sentence().unwrap_or_default();
        annotation("error", &named(result), &reason)
    });
    let flags = results.iter().flat_map(|result| {
        let flags = result.flags.iter();
        let critical = flags.filter(|flag| flag.severity == Severity::Critical);
        critical.map(|flag| {
            let text = format!("{}: {}", flag.id.as_str(), flag.evidence);
            annotation("warning", &named(result), &text)
        })
    });
    let mut lines: Vec<_> = checks.chain(inputs).chain(errors).chain(flags).collect();
    if lines.len() > MOST {
        let more = lines.len() - (MOST - 1);
        lines.truncate(MOST - 1);
        lines.push(annotation(
            "warning",
            "zer0gravity",
            &format!("{more} more failures and flags"),
        ));
    }
    let _ = io::stderr().write_all(lines.concat().as_bytes());
}

/// A command of GitHub's log, such as `::error title=a/1::refused`.
fn annotation(level: &str, title: &str, text: &str) -> String {
    let text = data(text);
    let title = data(title).replace(':', "%3A").replace(',', "%2C");
    escape(&format!("::{level} title={title}::{text}")) + "\n"
}

/// Escapes the text of a command, which ends with its line.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Appends the table of the encoding systems and the failed checks to the step summary, if there is one.
pub fn append_summary(results: &[ExperimentResult], failed: &[String], session: &Session) {
    let Some(file) = session.environment.value(SUMMARY) else {
        return;
    };
    let report = RunReport::of_results(results.to_vec());
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = "### zer0gravity\n\n".to_owned();
    if report.offline {
        text += "Offline: no model was asked.\n\n";
    }
    text += &row(&ranking::HEAD.map(str::to_owned));
    text += &row(&ranking::HEAD.map(|_| "---".to_owned()));
    for encoding in ranking::best_first(&report) {
        text += &row(&ranking::cells(encoding).map(|cell| markdown(&cell)));
    }
    text.push('\n');
    for check in failed {
        let _ = writeln!(text, "- {}", markdown(check));
    }
    if let Err(error) = append(Path::new(&file), &text) {
        let file = escape(&file);
        session.warn(&format!(
            "{SUMMARY}: {file}: {error}; no summary was written"
        ));
    }
}

/// Appends to a regular file: a pipe could be waited for without end.
fn append(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// A text without a meaning in Markdown and HTML.
fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for char in escape(text).chars() {
        if char.is_ascii_punctuation() && !"-.,%/".contains(char) {
            let _ = write!(safe, "&#{};", u32::from(char));
        } else {
            safe.push(char);
        }
    }
    safe
}
