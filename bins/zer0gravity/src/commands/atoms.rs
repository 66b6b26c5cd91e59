//! `zer0gravity atoms`: shows the commitments of a text, or those that another text lost.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Output, Session, escape};
use serde::Serialize;
use zer0gravity_engine::metrics::atoms_of;
use zer0gravity_engine::result::{AtomFinding, AtomMetrics, AtomText};

use crate::output::{self, Versioned};
use crate::selection;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity atoms notes.txt
  zer0gravity atoms notes.txt decoded.txt";

#[derive(Debug, clap::Args)]
pub struct AtomsArgs {
    /// The original: a text file, or - for stdin.
    #[arg(value_name = "TEXT")]
    pub text: PathBuf,
    /// A text that must keep the commitments of the original.
    #[arg(value_name = "DECODED")]
    pub decoded: Option<PathBuf>,
    /// Print the commitments, or the comparison, as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A commitment of a text.
#[derive(Serialize)]
struct Found<'a> {
    kind: &'static str,
    /// The form in which it is compared.
    canonical: &'a str,
    #[serde(flatten)]
    text: AtomText,
}

/// The commitments of a text.
#[derive(Serialize)]
struct FoundAtoms<'a> {
    atoms: Vec<Found<'a>>,
    language: &'static str,
}

pub fn execute(args: &AtomsArgs, session: &mut Session) -> Result<Exit, Failure> {
    let original = PlacedText::read(&args.text)?;
    let lines = if let Some(path) = &args.decoded {
        let decoded = PlacedText::read(path)?;
        let compared = AtomMetrics::of(&original.text, &decoded.text);
        if args.json {
            output::json(Output::Stdout, &Versioned::new(&compared), session)?;
            return Ok(Exit::Done);
        }
        differences(compared, &original, &decoded)
    } else {
        let atoms = atoms_of(&original.text);
        let found = atoms.all().iter().map(|atom| Found {
            kind: atom.kind.name(),
            canonical: &atom.canonical,
            text: AtomText::of(atom, &original.text),
        });
        let found = FoundAtoms {
            atoms: found.collect(),
            language: atoms.language().name(),
        };
        if args.json {
            output::json(Output::Stdout, &Versioned::new(&found), session)?;
            return Ok(Exit::Done);
        }
        commitments(&found, &original)
    };
    session.results.write_all(lines.as_bytes())?;
    Ok(Exit::Done)
}

/// A line for each commitment, `FILE:LINE:COLUMN: KIND: TEXT`, and one with their number.
fn commitments(found: &FoundAtoms<'_>, source: &PlacedText) -> String {
    let mut lines = String::new();
    for atom in &found.atoms {
        let said = escape(&atom.text.text);
        let _ = write!(lines, "{}: {}: {said}", source.place(&atom.text), atom.kind);
        let _ = if atom.canonical == atom.text.text {
            writeln!(lines)
        } else {
            writeln!(lines, " ({})", escape(atom.canonical))
        };
    }
    let count = counted(found.atoms.len(), "commitment");
    let _ = writeln!(lines, "{}: {count}{}", source.name, limits(found.language));
    lines
}

/// A line for each difference, `FILE:LINE:COLUMN: KIND CHANGE: TEXT`, first those of the original, and one with their number.
fn differences(compared: AtomMetrics, original: &PlacedText, decoded: &PlacedText) -> String {
    let mut findings = compared.findings;
    let start = |text: &Option<AtomText>| text.as_ref().map(|text| text.span);
    findings.sort_by_key(|it| {
        (
            it.original.is_none(),
            start(&it.original),
            start(&it.decoded),
        )
    });
    let mut lines = String::new();
    for AtomFinding {
        kind,
        change,
        critical,
        original: old,
        decoded: new,
        ..
    } in &findings
    {
        let (place, said) = match (old, new) {
            (Some(old), Some(new)) => {
                let (from, to) = (escape(&old.text), escape(&new.text));
                (
                    original.place(old),
                    format!("{from} -> {to} ({})", decoded.place(new)),
                )
            }
            (Some(old), None) => (original.place(old), escape(&old.text)),
            (None, Some(new)) => (decoded.place(new), escape(&new.text)),
            (None, None) => (decoded.name.clone(), String::new()),
        };
        let noted = if *critical { "" } else { " (not critical)" };
        let _ = writeln!(lines, "{place}: {kind} {change}: {said}{noted}");
    }
    let critical = findings.iter().filter(|it| it.critical).count();
    let _ = write!(
        lines,
        "{}: {}, {critical} critical; ",
        decoded.name,
        counted(findings.len(), "difference")
    );
    let _ = match compared.critical_recall {
        Some(share) => write!(
            lines,
            "{:.1} % of the critical commitments kept",
            100.0 * share
        ),
        None => write!(lines, "the original has no critical commitment"),
    };
    let cut = if compared.truncated {
        "; a text is too long: only identifiers, dates, numbers and names were compared"
    } else {
        ""
    };
    let _ = writeln!(lines, "{cut}{}", limits(&compared.language));
    lines
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The part of a text in a language without lists that is looked at.
fn limits(language: &str) -> &'static str {
    match language {
        "english" => "",
        _ => "; not English: only identifiers, numbers and dates in digits are found",
    }
}

/// A text with its name, and the bytes at which its lines begin.
struct PlacedText {
    name: String,
    text: String,
    lines: Vec<usize>,
}

impl PlacedText {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = selection::text(path).map_err(Failure::usage)?;
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Ok(Self {
            name: escape(&selection::name(path)),
            lines: std::iter::once(0).chain(breaks).collect(),
            text,
        })
    }

    /// The file, the line and the character in it at which a commitment begins.
    fn place(&self, atom: &AtomText) -> String {
        let at = atom.span[0];
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[line - 1];
        let column = 1 + self.text[start..at].chars().count();
        format!("{}:{line}:{column}", self.name)
    }
}
