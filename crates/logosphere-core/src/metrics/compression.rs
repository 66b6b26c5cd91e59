//! How much shorter texts get when what repeats is said once.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::corpus::Corpus;
use super::scope::Places;
use super::series::Point;

/// Bytes of a window that are compressed.
const MOST_BYTES: usize = 20_000;

/// Fewer say nothing: the code itself takes its share.
const LEAST_BYTES: usize = 2000;

/// The level of deflate.
const LEVEL: u32 = 6;

/// Size before and after of the first bytes of each window, texts joined by line feeds.
pub(crate) fn ratios(corpus: &Corpus<'_>, windows: &[Places]) -> Vec<Point> {
    let mut joined = Vec::with_capacity(2 * MOST_BYTES);
    let mut before: Option<(&Places, Point)> = None;
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
        let ratio = || Some(joined.len() as f64 / deflated(&joined)? as f64);
        let point = Point::of(texts, if enough { ratio() } else { None });
        before = Some((window, point));
        point
    });
    points.collect()
}

/// The size of a text when it is compressed; writing to memory does not fail.
fn deflated(text: &[u8]) -> Option<usize> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(text).ok()?;
    Some(encoder.finish().ok()?.len())
}
