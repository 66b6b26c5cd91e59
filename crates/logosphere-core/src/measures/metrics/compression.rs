//! The compression ratio of texts.

use flate2::{Compress, Compression, FlushCompress, Status};

use super::corpus::Corpus;
use super::scope::TextRange;
use super::series::Point;

/// The largest number of bytes of a window that are compressed.
const MOST_BYTES: usize = 20_000;

/// The smallest number of bytes with a value. For fewer bytes the tables of the compressed form have too large a share.
const LEAST_BYTES: usize = 2000;

/// The level of deflate.
const LEVEL: u32 = 6;

/// Returns the compression ratio (size before by size after) of the first [`MOST_BYTES`] bytes of each window. Texts are
/// joined by line feeds.
pub(crate) fn ratios(corpus: &Corpus<'_>, windows: &[TextRange]) -> Vec<Point> {
    let mut joined = Vec::with_capacity(2 * MOST_BYTES);
    let mut deflate = Deflate::new();
    let mut before: Option<(&TextRange, Point)> = None;
    let points = windows.iter().map(|window| {
        if let Some((same, point)) = &before
            && *same == window
        {
            return *point;
        }
        joined.clear();
        let mut texts = 0;
        for text in window.texts(corpus) {
            if joined.len() >= MOST_BYTES {
                break;
            }
            if texts > 0 {
                joined.push(b'\n');
            }
            let text = corpus.text(text.kind).as_bytes();
            joined.extend_from_slice(&text[..text.len().min(MOST_BYTES)]);
            texts += 1;
        }
        joined.truncate(MOST_BYTES);
        let enough = texts >= 2 && joined.len() >= LEAST_BYTES;
        let mut ratio = || Some(joined.len() as f64 / deflate.size(&joined)? as f64);
        let point = Point::of(texts, if enough { ratio() } else { None });
        before = Some((window, point));
        point
    });
    points.collect()
}

/// A compressor with its tables, which are reused because they are larger than the input.
struct Deflate {
    state: Compress,
    packed: Vec<u8>,
}

impl Deflate {
    fn new() -> Self {
        Self {
            state: Compress::new(Compression::new(LEVEL), false),
            packed: Vec::with_capacity(2 * MOST_BYTES),
        }
    }

    /// Returns the size of a compressed text.
    fn size(&mut self, text: &[u8]) -> Option<u64> {
        self.state.reset();
        self.packed.clear();
        let status = (self.state).compress_vec(text, &mut self.packed, FlushCompress::Finish);
        matches!(status, Ok(Status::StreamEnd)).then(|| self.state.total_out())
    }
}
