//! Messages as CSV by RFC 4180: a header, then a record per message.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Read};

use ::csv::{ByteRecord, ReaderBuilder};

use super::error::ImportError;
use super::message::{ForeignMessage, ImportField, text_time};
use super::source::LONGEST;

/// The separator of several ids in a cell.
const SEPARATOR: char = ';';

/// Reads the records of a file, and gives each with the number of its first line to `on_message`. `column` has the name of
/// the column of each field, and whether the user gave it.
pub(super) fn read(
    name: &str,
    file: impl Read,
    column: impl Fn(ImportField) -> (String, bool),
    mut on_message: impl FnMut(u64, Result<ForeignMessage, String>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let failed = |source: ::csv::Error| ImportError::Read {
        file: name.to_owned(),
        source: source.into(),
    };
    let state = ReadState::default();
    let file = CheckedReader {
        inner: file,
        state: &state,
        carry: Vec::new(),
        at: 0,
    };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(file);
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(failed)? {
        return Ok(());
    }
    if let Some(at) = state.invalid(0, reader.position().byte()) {
        return Err(ImportError::Form {
            file: name.to_owned(),
            line: 1,
            problem: format!("invalid UTF-8 at byte {at} of the file"),
        });
    }
    let header: Vec<String> = (record.iter())
        .map(|cell| String::from_utf8_lossy(cell).into_owned())
        .collect();
    let places = FieldColumns::new(name, &header, column)?;
    loop {
        let start = reader.position().byte();
        state.record.set(start);
        if !reader.read_byte_record(&mut record).map_err(failed)? {
            return Ok(());
        }
        let line = record.position().map_or(0, ::csv::Position::line);
        let message = match state.invalid(start, reader.position().byte()) {
            Some(at) => Err(format!("invalid UTF-8 at byte {at} of the file")),
            None => places.message(&record, header.len()),
        };
        on_message(line, message)?;
    }
}

/// The places of the fields in a record.
struct FieldColumns([Option<usize>; 6]);

impl FieldColumns {
    fn new(
        name: &str,
        header: &[String],
        column: impl Fn(ImportField) -> (String, bool),
    ) -> Result<Self, ImportError> {
        let mut places = [None; 6];
        for (place, &field) in places.iter_mut().zip(ImportField::ALL) {
            let (wanted, is_given) = column(field);
            let mut found = (header.iter().enumerate()).filter(|(_, known)| **known == wanted);
            *place = found.next().map(|(at, _)| at);
            let is_needed = is_given || field == ImportField::Text;
            if found.next().is_some() || (place.is_none() && is_needed) {
                return Err(ImportError::Column {
                    file: name.to_owned(),
                    column: wanted,
                    is_double: place.is_some(),
                    columns: header.to_vec(),
                });
            }
        }
        Ok(Self(places))
    }

    fn message(&self, record: &ByteRecord, columns: usize) -> Result<ForeignMessage, String> {
        if record.len() != columns {
            let found = record.len();
            return Err(format!("has {found} columns; the header has {columns}"));
        }
        let cell = |field: ImportField| {
            let bytes = self.0[field as usize].map(|place| &record[place]);
            // The bytes were checked to be UTF-8.
            bytes.map(|bytes| str::from_utf8(bytes).unwrap_or_default())
        };
        let single = |field| cell(field).filter(|text| !text.is_empty());
        let several = |field| {
            let ids = cell(field).unwrap_or_default().split(SEPARATOR);
            let ids = ids.map(str::trim).filter(|id| !id.is_empty());
            ids.map(str::to_owned).collect::<Vec<_>>()
        };
        ForeignMessage {
            text: cell(ImportField::Text).unwrap_or_default().to_owned(),
            id: single(ImportField::Id).map(str::to_owned),
            author: single(ImportField::Author).map(str::to_owned),
            time: single(ImportField::Time).map(text_time).transpose()?,
            parents: several(ImportField::Parent),
            reads: self.0[ImportField::Reads as usize].map(|_| several(ImportField::Reads)),
            round: None,
        }
        .checked()
    }
}

/// The state that the reader of records and the reader of bytes below it share.
#[derive(Default)]
struct ReadState {
    /// The position of the record that is read.
    record: Cell<u64>,
    /// The positions of bytes that are not UTF-8, in order.
    invalid: RefCell<VecDeque<u64>>,
}

impl ReadState {
    /// Returns the first invalid byte of a range, and forgets those before its end.
    fn invalid(&self, start: u64, end: u64) -> Option<u64> {
        let mut invalid = self.invalid.borrow_mut();
        let mut first = None;
        while let Some(at) = invalid.front().copied().filter(|at| *at < end) {
            invalid.pop_front();
            first = first.or(Some(at).filter(|at| *at >= start));
        }
        first
    }
}

/// A reader that notes bytes that are not UTF-8, and fails in a record without an end.
struct CheckedReader<'a, R> {
    inner: R,
    state: &'a ReadState,
    /// The first bytes of a character whose others are not read yet.
    carry: Vec<u8>,
    at: u64,
}

impl<R: Read> Read for CheckedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.state.record.get();
        if self.at.saturating_sub(start) > 2 * LONGEST as u64 {
            let error = format!(
                "a record at byte {start} has no end within {LONGEST} bytes; is a quote open?"
            );
            return Err(io::Error::other(error));
        }
        let read = self.inner.read(buffer)?;
        self.check(&buffer[..read]);
        Ok(read)
    }
}

impl<R> CheckedReader<'_, R> {
    fn check(&mut self, read: &[u8]) {
        let base = self.at - self.carry.len() as u64;
        self.at += read.len() as u64;
        let mut bytes = std::mem::take(&mut self.carry);
        bytes.extend_from_slice(read);
        let mut start = 0;
        while let Err(error) = str::from_utf8(&bytes[start..]) {
            let at = start + error.valid_up_to();
            let is_end = read.is_empty();
            let Some(length) = error.error_len().or(is_end.then_some(bytes.len() - at)) else {
                self.carry = bytes.split_off(at);
                return;
            };
            self.state.invalid.borrow_mut().push_back(base + at as u64);
            start = at + length;
        }
    }
}
