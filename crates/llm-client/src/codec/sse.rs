use serde::de::IgnoredAny;

use crate::Error;

/// A decoder of event streams (`text/event-stream`) from chunks that may be cut anywhere.
///
/// Its memory is bounded by the longest line allowed and the largest chunk. After an error it accepts no more input and
/// returns the same error again.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    max_line: u64,
    /// The bytes not read yet: at most the start of one line, once all events were returned.
    buffer: Vec<u8>,
    /// The start of the next line in `buffer`.
    start: usize,
    /// The position up to which `buffer` was searched for the end of that line, so that a long line in many small chunks is
    /// searched once.
    searched: usize,
    before: Before,
    event: Pending,
    /// Whether `event` was returned and must be cleared.
    taken: bool,
    cut: bool,
    failed: Option<Failure>,
}

/// The position before the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The start of the stream, where a byte order mark may occur.
    Nothing,
    /// After a line that ended with CR: an LF directly after it belongs to it.
    Cr,
    /// After any other line.
    Line,
}

/// The event that is being read.
#[derive(Debug, Default)]
struct Pending {
    name: String,
    data: String,
    /// Whether a `data` line occurred, which may have been empty.
    has_data: bool,
}

#[derive(Debug, Clone, Copy)]
enum Failure {
    LongLine,
    LongEvent,
    NoUtf8,
}

/// An event of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    /// The name; `message` if the stream has none.
    pub event: &'a str,
    /// The data, several lines joined by line feeds.
    pub data: &'a str,
}

impl SseDecoder {
    /// A decoder for lines of at most `max_line` bytes; the data of one event has the same limit.
    pub fn new(max_line: u64) -> Self {
        Self {
            max_line,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            before: Before::Nothing,
            event: Pending::default(),
            taken: false,
            cut: false,
            failed: None,
        }
    }

    /// Adds bytes. Call [`Self::next_event`] until it returns `None` before adding more.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event.
    ///
    /// # Errors
    /// [`crate::ErrorKind::TooLarge`] and, for bytes that are not UTF-8, [`crate::ErrorKind::Protocol`].
    pub fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, Error> {
        self.give(Self::read_event)
    }

    /// Ends the body and returns the pending event if it is complete. Then [`Self::is_pending`] reports a cut one.
    ///
    /// # Errors
    /// As [`Self::next_event`].
    pub fn finish(&mut self) -> Result<Option<SseEvent<'_>>, Error> {
        self.give(Self::read_rest)
    }

    /// Whether input was left over at the end, so that the stream was cut.
    pub fn is_pending(&self) -> bool {
        self.cut
    }

    /// The event that `read` completes. After an error it returns that error again.
    fn give(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<bool, Failure>,
    ) -> Result<Option<SseEvent<'_>>, Error> {
        self.clear_taken();
        if self.failed.is_none() {
            match read(self) {
                Ok(true) => {
                    self.taken = true;
                    return Ok(Some(self.event.as_event()));
                }
                Ok(false) => {}
                Err(failure) => self.fail(failure),
            }
        }
        self.check().map(|()| None)
    }

    fn clear_taken(&mut self) {
        if self.taken {
            self.taken = false;
            self.event.clear();
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.failed = Some(failure);
        self.buffer = Vec::new();
        self.event = Pending::default();
        (self.start, self.searched) = (0, 0);
    }

    fn check(&self) -> Result<(), Error> {
        Err(match self.failed {
            None => return Ok(()),
            Some(Failure::LongLine) => Error::too_large("line of the stream", self.max_line),
            Some(Failure::LongEvent) => Error::too_large("event of the stream", self.max_line),
            Some(Failure::NoUtf8) => Error::protocol("the stream is not UTF-8"),
        })
    }

    /// Reads lines up to the end of an event; false if there are no more whole lines.
    fn read_event(&mut self) -> Result<bool, Failure> {
        loop {
            if self.before == Before::Cr
                && let Some(first) = self.buffer.get(self.start)
            {
                self.before = Before::Line;
                if *first == b'\n' {
                    self.start += 1;
                    self.searched = self.start;
                }
            }
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(length) = find_line_end(unsearched) else {
                self.searched = self.buffer.len();
                let line = self.searched - self.start;
                return if line as u64 > self.max_line {
                    Err(Failure::LongLine)
                } else {
                    Ok(false)
                };
            };
            let line = self.start..self.searched + length;
            if line.len() as u64 > self.max_line {
                return Err(Failure::LongLine);
            }
            let first = self.before == Before::Nothing;
            self.before = match self.buffer[line.end] {
                b'\r' => Before::Cr,
                _ => Before::Line,
            };
            self.start = line.end + 1;
            self.searched = self.start;
            let line = std::str::from_utf8(&self.buffer[line]).map_err(|_| Failure::NoUtf8)?;
            let line = without_mark(first, line);
            if !line.is_empty() {
                self.event.line(line, self.max_line)?;
            } else if self.event.has_data {
                return Ok(true);
            } else {
                self.event.clear();
            }
        }
    }

    /// Reads the bytes after the last line end; true if they complete the pending event.
    fn read_rest(&mut self) -> Result<bool, Failure> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        if rest.len() as u64 > self.max_line {
            return Err(Failure::LongLine);
        }
        let rest = match std::str::from_utf8(rest) {
            Ok(rest) => rest,
            // The end of the body cut a character: that is a cut stream, not a wrong one.
            Err(error) if error.error_len().is_none() => {
                self.cut = true;
                return Ok(false);
            }
            Err(_) => return Err(Failure::NoUtf8),
        };
        let line = without_mark(self.before == Before::Nothing, rest);
        let begun = !line.is_empty() && !line.starts_with(':');
        if begun {
            self.event.line(line, self.max_line)?;
        }
        self.start = self.buffer.len();
        self.searched = self.start;
        if self.event.is_whole() {
            return Ok(true);
        }
        self.cut = begun || self.event.has_data || !self.event.name.is_empty();
        Ok(false)
    }
}

impl Pending {
    fn clear(&mut self) {
        self.name.clear();
        self.data.clear();
        self.has_data = false;
    }

    fn as_event(&self) -> SseEvent<'_> {
        SseEvent {
            event: if self.name.is_empty() {
                "message"
            } else {
                &self.name
            },
            data: &self.data,
        }
    }

    fn line(&mut self, line: &str, limit: u64) -> Result<(), Failure> {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                // Many short lines must not get past the limit of one long line.
                if (self.data.len() + value.len()) as u64 > limit {
                    return Err(Failure::LongEvent);
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            "event" => {
                self.name.clear();
                self.name.push_str(value);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the data of an event without a final blank line is complete.
    fn is_whole(&self) -> bool {
        let data = self.data.trim_ascii();
        data == "[DONE]"
            || (data.starts_with('{') && serde_json::from_str::<IgnoredAny>(data).is_ok())
    }
}

fn without_mark(first: bool, line: &str) -> &str {
    line.strip_prefix('\u{feff}')
        .filter(|_| first)
        .unwrap_or(line)
}

/// The position of the first LF or CR.
fn find_line_end(bytes: &[u8]) -> Option<usize> {
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    // Whole blocks are searched without a branch per byte, which the compiler turns into vector instructions.
    let skipped = bytes
        .chunks_exact(BLOCK)
        .take_while(|block| !block.iter().fold(false, |found, byte| found | ends(byte)))
        .count()
        * BLOCK;
    bytes[skipped..]
        .iter()
        .position(ends)
        .map(|at| skipped + at)
}

const BLOCK: usize = 32;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod props;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn decode(limit: u64, pieces: &[&[u8]]) -> Result<(Vec<(String, String)>, bool), Error> {
        let owned = |event: SseEvent<'_>| (event.event.to_owned(), event.data.to_owned());
        let mut decoder = SseDecoder::new(limit);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(event) = decoder.next_event()? {
                events.push(owned(event));
            }
        }
        events.extend(decoder.finish()?.map(owned));
        Ok((events, decoder.is_pending()))
    }

    #[test]
    fn line_ends_are_found_at_every_place_of_a_block() {
        for length in 0..100 {
            let mut bytes = vec![b'x'; length];
            assert_eq!(find_line_end(&bytes), None);
            for at in 0..length {
                bytes[at] = if at % 2 == 0 { b'\n' } else { b'\r' };
                assert_eq!(find_line_end(&bytes), Some(at));
                bytes[at] = b'x';
            }
        }
    }

    #[test]
    fn a_line_may_have_the_longest_length_and_no_byte_more() {
        let line = |length: usize| format!("data: {}\n\n", "x".repeat(length - 6));
        assert!(decode(64, &[line(64).as_bytes()]).is_ok());
        let long = decode(64, &[line(65).as_bytes()]).unwrap_err();
        assert!(
            matches!(long.kind(), ErrorKind::TooLarge { limit: 64, .. }),
            "{long}"
        );
    }

    #[test]
    fn an_endless_line_fails_with_bounded_memory() {
        let mut decoder = SseDecoder::new(10_000);
        let mut failed = 0;
        for _ in 0..10_000 {
            decoder.push(&[b'x'; 100]);
            failed += usize::from(decoder.next_event().is_err());
            assert!(decoder.buffer.capacity() <= 40_000);
        }
        assert_eq!(failed, 10_000 - 100);
    }

    #[test]
    fn endless_data_lines_of_one_event_fail_too() {
        let mut decoder = SseDecoder::new(1000);
        let error = (0..100).find_map(|_| {
            decoder.push(b"data: 0123456789012345678\n");
            decoder.next_event().err()
        });
        assert!(matches!(
            error.as_ref().map(Error::kind),
            Some(ErrorKind::TooLarge { limit: 1000, .. })
        ));
        assert!(decoder.event.data.is_empty());
    }

    #[test]
    fn empty_data_lines_count_by_their_joints() {
        let stream = "data:\n".repeat(1002);
        let error = decode(1000, &[stream.as_bytes()]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { .. }));
    }

    #[test]
    fn a_long_line_in_small_pieces_is_searched_once() {
        // A search from the line's start for every piece would take minutes.
        let mut stream = b"data: ".to_vec();
        stream.resize(4 << 20, b'x');
        stream.extend_from_slice(b"\n\n");
        let pieces: Vec<_> = stream.chunks(7).collect();
        let (events, _) = decode(16 << 20, &pieces).unwrap();
        assert_eq!(events[0].1.len(), (4 << 20) - 6);
    }

    #[test]
    fn bytes_that_are_no_utf8_break_the_protocol() {
        for stream in [
            &b"data: \xff\n\n"[..],
            b"data: \xc3\n\n",
            b": \xed\xa0\x80\n",
            b"data: \xff",
        ] {
            let error = decode(99, &[stream]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Protocol { .. }));
        }
    }

    #[test]
    fn an_end_inside_a_character_or_a_field_is_a_cut_stream() {
        for (stream, pending) in [
            (&b"data: {\"t\":\"\xe6\xbc"[..], true),
            (b"dat", true),
            (b"event: message_stop\n", true),
            (b"data: [DONE", true),
            (b"data: {\"a\":1}\ndata: {", true),
            (b": a comment", false),
            (b"data: {}\n\n\n", false),
            (b"data: {}\r", false),
            (b"data: 1", true),
        ] {
            assert_eq!(decode(99, &[stream]).unwrap().1, pending, "{stream:?}");
        }
    }

    #[test]
    fn nothing_is_given_after_an_error() {
        let mut decoder = SseDecoder::new(99);
        decoder.push(b"data: \xff\n\ndata: 1\n\n");
        assert!(decoder.next_event().is_err());
        decoder.push(b"data: 2\n\n");
        assert!(decoder.next_event().is_err());
        assert!(decoder.finish().is_err());
    }
}
