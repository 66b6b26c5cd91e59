use crate::Error;

/// Decodes an event stream (`text/event-stream`) from bytes that may be cut anywhere.
#[derive(Debug)]
pub struct SseDecoder {
    max_line: u64,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// Its name; `message` when the stream gives none.
    pub event: &'a str,
    /// Its data, several lines joined by line feeds.
    pub data: &'a str,
}

impl SseDecoder {
    /// Reads lines of at most `max_line` bytes; the data of one event is held to the same length.
    pub fn new(max_line: u64) -> Self {
        Self { max_line }
    }

    /// Takes more bytes. Call [`Self::next_event`] until it gives none before the next ones.
    pub fn push(&mut self, _bytes: &[u8]) {}

    /// The next complete event.
    ///
    /// # Errors
    /// [`Error::TooLarge`] and, for bytes that are not UTF-8, [`Error::Protocol`].
    pub fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, Error> {
        let _ = self.max_line;
        Ok(None)
    }

    /// The body is over: the pending event, if it is complete. Then [`Self::is_pending`] tells of a cut one.
    ///
    /// # Errors
    /// As [`Self::next_event`].
    pub fn finish(&mut self) -> Result<Option<SseEvent<'_>>, Error> {
        Ok(None)
    }

    /// Something was left over at the end: the stream was cut.
    pub fn is_pending(&self) -> bool {
        false
    }
}
