//! The messages of an import in their order, with ids, rounds and reads.

use std::collections::HashMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;

use jiff::Timestamp;

use super::error::ImportError;
use super::files::Import;
use super::links::{Links, MOST_READS, fill_reads};
use super::list_members::ListMembers;
use super::message::ForeignMessage;
use super::record::{ImportHeader, ImportedMessage, SCHEMA_VERSION, UNKNOWN_AUTHOR};
use super::rounds::{rounds, rule};
use crate::pool::MessageId;
use crate::verify::Exposure;

/// Imported messages, ready to be written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// The first line.
    pub header: ImportHeader,
    /// The messages, sorted by time, then in the order of the files.
    pub messages: Vec<ImportedMessage>,
    /// The number of authors, unknown ones not counted.
    pub authors: usize,
    /// The number of calls of an old journal that read a text which was not among the newest messages: their reads are
    /// assumed.
    pub unknown_reads: u64,
    /// Whether an old journal has no last event: its run was stopped, or lines are missing.
    pub is_unended: bool,
}

impl Imported {
    pub(super) fn of(mut import: Import<'_>) -> Result<Self, ImportError> {
        if let Some(unseen) = import.unseen.iter().flatten().next() {
            return Err(ImportError::NoKey {
                field: unseen.field.name(),
                key: unseen.column.clone(),
            });
        }
        let skipped = import.problems.count;
        if skipped > 0 && !import.plan.skip_bad {
            return Err(ImportError::Bad(import.problems));
        }
        if import.messages.is_empty() {
            return Err(ImportError::Empty { skipped });
        }
        let exposure = exposure(&import)?;
        let times = times(&import.messages);
        let mut order: Vec<usize> = (0..import.messages.len()).collect();
        // The sort is stable, so equal times stay in the order of the files.
        order.sort_by_key(|&at| times[at]);
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let rule = rule(&import)?;
        let rounds = rounds(&import, &order, &times, rule)?;
        let (mut links, lost_links) = links(&mut import, &order, &place, exposure)?;
        let mut names = AuthorNames::new(import.plan.keep_authors);
        let authors: Vec<Option<u32>> = (order.iter())
            .map(|&at| names.number(import.messages[at].author.as_deref()))
            .collect();
        let author_count = names.names.len();
        let author_names: Vec<String> = authors.iter().map(|&author| names.name(author)).collect();
        if fill_reads(&mut links, &authors, exposure, MOST_READS).is_none() {
            return Err(many_reads(&links, exposure));
        }
        import.check_stop()?;
        let ids = |places: Vec<usize>| places.into_iter().map(MessageId::at).collect();
        let rows = order.iter().zip(author_names).zip(links).zip(rounds);
        let messages: Vec<_> = (rows.enumerate())
            .map(|(new, (((&old, author), links), round))| {
                let message = std::mem::take(&mut import.messages[old]);
                ImportedMessage {
                    id: MessageId::at(new),
                    source_id: message.id.unwrap_or_default(),
                    round,
                    author,
                    time: message.time,
                    text: message.text,
                    parents: ids(links.parents),
                    reads: ids(links.reads),
                }
            })
            .collect();
        let header = ImportHeader {
            schema_version: SCHEMA_VERSION,
            software: concat!("logosphere-core ", env!("CARGO_PKG_VERSION")).to_owned(),
            sources: import.sources,
            exposure,
            round: rule,
            messages: messages.len() as u64,
            active: import.active,
            skipped,
            lost_links,
            reference_metrics: import.metrics,
        };
        Ok(Self {
            header,
            messages,
            authors: author_count,
            unknown_reads: import.unknown_reads,
            is_unended: import.is_unended,
        })
    }

    /// Writes the content of `imported.jsonl`. The same files and settings give the same bytes.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, &self.header)?;
        out.write_all(b"\n")?;
        for message in &self.messages {
            serde_json::to_writer(&mut out, message)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Returns the number of rounds.
    pub fn rounds(&self) -> u32 {
        self.messages.last().map_or(0, |last| last.round.0)
    }
}

fn exposure(import: &Import<'_>) -> Result<Exposure, ImportError> {
    let has_reads = import
        .messages
        .iter()
        .any(|message| message.reads.is_some());
    let recorded = match import.active.and_then(NonZeroUsize::new) {
        Some(size) if import.unknown_reads > 0 => Exposure::Window(size),
        _ => Exposure::Recorded,
    };
    match import.plan.exposure {
        Some(Exposure::Recorded) if !has_reads => Err(ImportError::NoReads),
        None if !has_reads => Ok(Exposure::Unknown),
        Some(Exposure::Recorded) | None => Ok(recorded),
        Some(given) => Ok(given),
    }
}

/// Returns the error of more assumed reads than are kept, with an assumption that gives no more.
fn many_reads(links: &[Links], exposure: Exposure) -> ImportError {
    let parents: usize = links.iter().map(|link| link.parents.len()).sum();
    let fits = NonZeroUsize::new(MOST_READS.saturating_sub(parents) / links.len().max(1));
    ImportError::ManyReads {
        reads: exposure,
        most: MOST_READS,
        fits: fits.map_or(Exposure::Unknown, Exposure::Window),
    }
}

/// Returns the time by which each message is sorted: its own, or that of the message before it in the files.
fn times(messages: &[ForeignMessage]) -> Vec<Option<Timestamp>> {
    let mut last = None;
    let own = messages.iter().map(|message| {
        last = message.time.or(last);
        last
    });
    own.collect()
}

/// Returns the links of the messages in their new order, and the number of those that are unknown or not older.
fn links(
    import: &mut Import<'_>,
    order: &[usize],
    place: &[usize],
    exposure: Exposure,
) -> Result<(Vec<Links>, u64), ImportError> {
    let (mut lost, mut members) = (0, ListMembers::default());
    let mut links = Vec::with_capacity(order.len());
    for (new, &old) in order.iter().enumerate() {
        import.check_stop()?;
        let message = &import.messages[old];
        let mut found = |ids: &[String]| {
            members.begin();
            let mut known = Vec::new();
            for id in ids {
                let at = import.ids.get(id).map(|&at| place[at]);
                match at.filter(|at| *at < new) {
                    Some(at) if members.insert(at) => known.push(at),
                    Some(_) => {}
                    None => lost += 1,
                }
            }
            known
        };
        let reads = match (&message.reads, exposure) {
            (Some(reads), Exposure::Recorded) => found(reads),
            _ => Vec::new(),
        };
        links.push(Links {
            parents: found(&message.parents),
            reads,
        });
    }
    Ok((links, lost))
}

/// The authors in order of first appearance.
struct AuthorNames<'a> {
    is_kept: bool,
    numbers: HashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> AuthorNames<'a> {
    fn new(is_kept: bool) -> Self {
        Self {
            is_kept,
            numbers: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// Returns the number of an author, from 0; `None` if unknown.
    fn number(&mut self, author: Option<&'a str>) -> Option<u32> {
        let author = author?;
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(author).or_insert(next);
        if number == next {
            self.names.push(author);
        }
        Some(number)
    }

    fn name(&self, number: Option<u32>) -> String {
        match number {
            None => UNKNOWN_AUTHOR.to_owned(),
            Some(number) if self.is_kept => self.names[number as usize].to_owned(),
            Some(number) => format!("a{:02}", number + 1),
        }
    }
}
