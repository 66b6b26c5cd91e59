//! The import itself: sources are read one after another, then messages are sorted, linked and numbered.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;

use super::error::{ImportError, InputProblems};
use super::imported::Imported;
use super::memes::MemeReader;
use super::message::{ColumnName, ForeignMessage, ImportField, quoted};
use super::metrics::ReferenceMetrics;
use super::old_journal::{OldJournal, OldJournalError};
use super::record::{ImportSource, RoundRule, UNKNOWN_AUTHOR};
use super::source::{LONGEST, Source, SourceLine, SourceLines};
use super::{csv, jsonl};
use crate::verify::Exposure;

/// The settings of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ImportPlan {
    /// The columns of fields that have another name.
    pub columns: Vec<ColumnName>,
    /// The source of reads; `None` for recorded ones if the files have any, otherwise unknown.
    pub exposure: Option<Exposure>,
    /// The rule of rounds; `None` for recorded rounds if the files have any, otherwise 50 messages each.
    pub round: Option<RoundRule>,
    /// Whether names of authors are kept.
    pub keep_authors: bool,
    /// Whether bad messages are left out.
    pub skip_bad: bool,
}

/// The formats of foreign messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ImportFormat {
    /// JSON lines: an object per line.
    Jsonl,
    /// CSV by RFC 4180, with a header.
    Csv,
    /// The files of the Python program of 2026-01-02.
    Reference,
}

/// An import in progress.
///
/// Sources are read line by line; the texts of messages are kept.
pub struct Import<'a> {
    pub(super) plan: ImportPlan,
    on_line: &'a mut dyn FnMut() -> ControlFlow<()>,
    pub(super) sources: Vec<ImportSource>,
    pub(super) messages: Vec<ForeignMessage>,
    pub(super) problems: InputProblems,
    pub(super) active: Option<usize>,
    /// The number of calls of an old journal that read a text which was not among the newest messages.
    pub(super) unknown_reads: u64,
    /// Whether an old journal has no last event.
    pub(super) is_unended: bool,
    pub(super) metrics: Option<ReferenceMetrics>,
    /// The given keys that no JSON object had; `None` before the first object.
    pub(super) unseen: Option<Vec<ColumnName>>,
    /// The index of each message by its id.
    pub(super) ids: HashMap<String, usize>,
}

impl std::fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Import")
            .field("plan", &self.plan)
            .field("sources", &self.sources)
            .finish_non_exhaustive()
    }
}

impl<'a> Import<'a> {
    /// Begins an import. `on_line` is called for each line, and for each message while they are linked; if it breaks, the
    /// import ends with [`ImportError::Stopped`].
    pub fn new(plan: ImportPlan, on_line: &'a mut dyn FnMut() -> ControlFlow<()>) -> Self {
        Self {
            plan,
            on_line,
            sources: Vec::new(),
            messages: Vec::new(),
            problems: InputProblems::default(),
            active: None,
            unknown_reads: 0,
            is_unended: false,
            metrics: None,
            unseen: None,
            ids: HashMap::new(),
        }
    }

    /// Reads messages as JSON lines. `name` is the name of the file in errors and in the header.
    ///
    /// # Errors
    /// [`ImportError::DoubleMap`], [`ImportError::Read`] and [`ImportError::Stopped`]. Bad messages are an error of
    /// [`Import::finish`].
    pub fn add_jsonl(&mut self, name: &str, file: impl Read) -> Result<(), ImportError> {
        let columns = self.columns()?;
        let number = self.sources.len();
        self.each_line(name, file, |import, line| {
            let text = line.text();
            if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
                return Ok(());
            }
            let column = |field: ImportField| column(&columns, field).0;
            let message = text.and_then(|text| {
                let object = jsonl::object(text)?;
                let unseen = import.unseen.get_or_insert_with(|| columns.clone());
                unseen.retain(|given| !object.contains_key(&given.column));
                jsonl::message(text, &object, column)
            });
            import.add(name, number, line.number, message);
            Ok(())
        })
    }

    /// Reads messages as CSV, as [`Import::add_jsonl`] does.
    ///
    /// # Errors
    /// [`ImportError::Column`], [`ImportError::DoubleMap`], [`ImportError::Form`], [`ImportError::Read`] and
    /// [`ImportError::Stopped`].
    pub fn add_csv(&mut self, name: &str, file: impl Read) -> Result<(), ImportError> {
        let columns = self.columns()?;
        let number = self.sources.len();
        let mut source = Source::new(file);
        csv::read(
            name,
            &mut source,
            |field| column(&columns, field),
            |line, message| {
                self.add(name, number, line, message);
                self.check_stop()
            },
        )?;
        self.end(name, source.sha256());
        Ok(())
    }

    /// Reads a journal of the Python program, with the `init.md` that its run began with, and checks what follows from
    /// earlier lines.
    ///
    /// # Errors
    /// [`ImportError::OldJournal`], [`ImportError::Read`], [`ImportError::Stopped`] and [`ImportError::UnusedMap`].
    pub fn add_old_journal(
        &mut self,
        name: &str,
        file: impl Read,
        init: &str,
    ) -> Result<(), ImportError> {
        self.check_no_map()?;
        let number = self.sources.len();
        let mut journal = OldJournal::default();
        let wrong = |source: OldJournalError| ImportError::OldJournal {
            file: name.to_owned(),
            source,
        };
        self.each_line(name, file, |import, line| {
            let text = line.text().map_err(|problem| {
                wrong(OldJournalError::Line {
                    line: line.number,
                    problem,
                })
            })?;
            journal.line(line.number, text, init).map_err(wrong)?;
            for message in journal.messages.drain(..) {
                import.add(name, number, line.number, message.checked());
            }
            Ok(())
        })?;
        self.active = Some(journal.end().map_err(wrong)?);
        self.unknown_reads += journal.unknown_reads;
        self.is_unended |= !journal.is_ended();
        Ok(())
    }

    /// Reads a `novel_memes.yaml` of the Python program.
    ///
    /// # Errors
    /// [`ImportError::Form`], [`ImportError::Read`], [`ImportError::Stopped`] and [`ImportError::UnusedMap`].
    pub fn add_memes(&mut self, name: &str, file: impl Read) -> Result<(), ImportError> {
        self.check_no_map()?;
        let number = self.sources.len();
        let mut memes = MemeReader::default();
        let wrong = |line, problem| ImportError::Form {
            file: name.to_owned(),
            line,
            problem,
        };
        let mut last = 0;
        self.each_line(name, file, |import, line| {
            last = line.number;
            let found = line.text().and_then(|text| memes.line(text));
            if let Some(message) = found.map_err(|problem| wrong(line.number, problem))? {
                import.add(name, number, line.number, Ok(message));
            }
            Ok(())
        })?;
        if last > 0 {
            let message = memes.end().map_err(|problem| wrong(last, problem))?;
            self.add(name, number, last, Ok(message));
        }
        Ok(())
    }

    /// Reads a `diversity_metrics.json` of the Python program.
    ///
    /// # Errors
    /// [`ImportError::Form`] and [`ImportError::Read`].
    pub fn add_metrics(&mut self, name: &str, file: impl Read) -> Result<(), ImportError> {
        let mut source = Source::new(file);
        let mut bytes = Vec::new();
        let read = (&mut source).take(LONGEST as u64).read_to_end(&mut bytes);
        read.map_err(|source| ImportError::Read {
            file: name.to_owned(),
            source,
        })?;
        let metrics = ReferenceMetrics::parse(&bytes);
        let metrics = metrics.map_err(|(line, problem)| ImportError::Form {
            file: name.to_owned(),
            line,
            problem,
        })?;
        self.metrics = Some(metrics);
        self.end(name, source.sha256());
        Ok(())
    }

    /// Sorts, links and numbers the messages.
    ///
    /// # Errors
    /// [`ImportError::Bad`] unless bad messages are left out, [`ImportError::Empty`], [`ImportError::NoKey`],
    /// [`ImportError::Stopped`], and the errors of reads and rounds.
    pub fn finish(self) -> Result<Imported, ImportError> {
        Imported::of(self)
    }

    /// Returns the given columns, one for a field.
    fn columns(&self) -> Result<Vec<ColumnName>, ImportError> {
        let columns = &self.plan.columns;
        let is_double = |field: &&ImportField| {
            columns
                .iter()
                .filter(|column| column.field == **field)
                .count()
                > 1
        };
        match ImportField::ALL.iter().find(is_double) {
            Some(double) => Err(ImportError::DoubleMap {
                field: double.name(),
            }),
            None => Ok(columns.clone()),
        }
    }

    fn check_no_map(&self) -> Result<(), ImportError> {
        if self.plan.columns.is_empty() {
            return Ok(());
        }
        Err(ImportError::UnusedMap)
    }

    fn each_line(
        &mut self,
        name: &str,
        file: impl Read,
        mut on_line: impl FnMut(&mut Self, SourceLine<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut source = Source::new(file);
        let mut lines = SourceLines::new(BufReader::with_capacity(1 << 16, &mut source));
        let unreadable = |source| ImportError::Read {
            file: name.to_owned(),
            source,
        };
        while let Some(line) = lines.next_line().map_err(unreadable)? {
            on_line(self, line)?;
            self.check_stop()?;
        }
        self.end(name, source.sha256());
        Ok(())
    }

    pub(super) fn check_stop(&mut self) -> Result<(), ImportError> {
        match (self.on_line)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ImportError::Stopped),
        }
    }

    fn end(&mut self, name: &str, sha256: String) {
        let name = name.to_owned();
        self.sources.push(ImportSource { name, sha256 });
    }

    /// Adds a message, or the problem with it, of a line of source `number`, from 0.
    fn add(
        &mut self,
        name: &str,
        number: usize,
        line: u64,
        message: Result<ForeignMessage, String>,
    ) {
        let mut message = match message {
            Ok(message) => message,
            Err(problem) => return self.problems.add(name, line, &problem),
        };
        if self.plan.keep_authors && message.author.as_deref() == Some(UNKNOWN_AUTHOR) {
            let problem = format!(
                "the author {UNKNOWN_AUTHOR} has the name of unknown ones; rename it, or leave --keep-authors out"
            );
            return self.problems.add(name, line, &problem);
        }
        let id = message.id.get_or_insert_with(|| match number {
            0 => line.to_string(),
            _ => format!("{}:{line}", number + 1),
        });
        match self.ids.entry(id.clone()) {
            Entry::Vacant(place) => {
                place.insert(self.messages.len());
                self.messages.push(message);
            }
            Entry::Occupied(_) => {
                let problem = format!("the id {} is not the first of its kind", quoted(id));
                self.problems.add(name, line, &problem);
            }
        }
    }
}

/// Returns the column of a field, and whether it was given.
fn column(columns: &[ColumnName], field: ImportField) -> (String, bool) {
    let given = columns.iter().find(|column| column.field == field);
    match given {
        Some(given) => (given.column.clone(), true),
        None => (field.name().to_owned(), false),
    }
}
