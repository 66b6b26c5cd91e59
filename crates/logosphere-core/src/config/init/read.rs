//! The parser of `init.md`, which contains the seed messages of a pool.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::error::{InitError, InitWarning};
use super::fix::{InitFix, line_at};

use crate::format::{
    Cut, End, ParseMode, find_signature, holds_delimiter, is_blank, is_signature, trimmed,
    with_signature,
};

/// The number of characters of a text that a warning shows.
const SHOWN: usize = 40;

/// The seed messages of a run, read from `init.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Init {
    /// The text before the first delimiter line, which is never sent.
    pub notes: String,
    /// The seed messages in order, without the signature.
    pub seeds: Vec<String>,
    /// The signature.
    pub signature: String,
    /// Warnings about content that may not be intended.
    pub warnings: Vec<InitWarning>,
}

/// Reads `init.md`: notes, then messages as a mind writes them, a blank one, and `signature`.
///
/// A byte order mark at the start is dropped and CRLF becomes LF. The list of messages may be empty; see
/// [`Init::check`].
///
/// ```
/// use logosphere_core::config::parse_init;
/// use logosphere_core::format::ParseMode;
///
/// let file = "My notes.\n---\nOne.\n---\nTwo.\n---\n\n---\n~init\n";
/// let init = parse_init(file.as_bytes(), ParseMode::Lenient, "~init")?;
/// assert_eq!(init.seeds, ["One.", "Two."]);
/// assert_eq!(init.stored(true).next().unwrap(), "One.\n\n~init");
///
/// let error = parse_init(b"---\nOne.\n", ParseMode::Lenient, "~init").unwrap_err();
/// assert_eq!(error.fix().unwrap().lines, ["---", "", "---", "~init"]);
/// # Ok::<(), logosphere_core::config::InitError>(())
/// ```
///
/// # Errors
/// See [`InitError`].
pub fn parse_init(bytes: &[u8], mode: ParseMode, signature: &str) -> Result<Init, InitError> {
    let text = decode(bytes)?;
    let found = Found::cut(&text, mode, signature)?;
    let seeds: Vec<_> = (found.messages.into_iter())
        .map(|message| text[message].to_owned())
        .collect();
    if mode == ParseMode::Strict {
        // Only here a seed can end in `---` and a CR, which are a delimiter as soon as a line follows.
        let broken = |seed: &String| holds_delimiter(&with_signature(seed, signature), mode);
        if let Some(seed) = seeds.iter().position(broken) {
            return Err(InitError::Delimiter { seed: seed + 1 });
        }
    }
    let unused = found.unused.map(|range| {
        let range = trimmed(&text, range);
        InitWarning::TextAfterSignature {
            line: line_at(&text, range.start),
            start: text[range].chars().take(SHOWN).collect(),
        }
    });
    Ok(Init {
        notes: text[found.notes].to_owned(),
        warnings: unused.into_iter().chain(equal_seeds(&seeds)).collect(),
        seeds,
        signature: signature.to_owned(),
    })
}

impl Init {
    /// Checks the file for a run with an active pool of `m_active_pool` messages, and adds its warnings.
    ///
    /// # Errors
    /// [`InitError::ZeroSeeds`] unless `allow_zero_seeds`.
    pub fn check(
        mut self,
        m_active_pool: usize,
        allow_zero_seeds: bool,
    ) -> Result<Self, InitError> {
        let seeds = self.seeds.len();
        if seeds == 0 && !allow_zero_seeds {
            return Err(InitError::ZeroSeeds);
        }
        if seeds > m_active_pool {
            self.warnings.push(InitWarning::MoreSeedsThanActive {
                seeds,
                active: m_active_pool,
            });
        }
        Ok(self)
    }

    /// Returns the seed messages as the pool stores them: with the signature below each if `stamp`.
    pub fn stored(&self, stamp: bool) -> impl Iterator<Item = String> {
        let signature = if stamp { &self.signature[..] } else { "" };
        self.seeds
            .iter()
            .map(move |seed| with_signature(seed, signature))
    }
}

/// The parts of a file as ranges of its text.
struct Found {
    notes: Range<usize>,
    messages: Vec<Range<usize>>,
    /// The text after the signature.
    unused: Option<Range<usize>>,
}

impl Found {
    fn cut(text: &str, mode: ParseMode, signature: &str) -> Result<Self, InitError> {
        let cut = Cut::new(text, mode);
        let Some(tail) = cut.tail else {
            let fix = InitFix::delimiter(text, signature);
            return Err(InitError::NoDelimiter { fix });
        };
        // A lenient end is followed by nothing, also not by a signature: the blank message is missing.
        let ended = matches!(cut.end, End::BlankBlock | End::Adjacent);
        let Some(rest) = cut.rest(text, mode).filter(|_| ended) else {
            let fix = InitFix::end(text, tail, signature);
            return Err(InitError::NoEnd { fix });
        };
        let found = find_signature(text, rest.first.clone(), is_signature);
        check_signature(text, tail, found, rest.first, signature)?;
        Ok(Self {
            notes: cut.thinking.clone(),
            messages: cut.messages().to_vec(),
            unused: rest.more,
        })
    }
}

/// Checks that the signature that was `found` after the end is the run's. `rest` is its expected range, and the last
/// line of the end ends at `tail`.
fn check_signature(
    text: &str,
    tail: usize,
    found: Option<Range<usize>>,
    rest: Range<usize>,
    signature: &str,
) -> Result<(), InitError> {
    let Some(place) = found else {
        let chatter = !is_blank(&text[rest]);
        return Err(InitError::NoSignature {
            line: line_at(text, tail - 1),
            fix: InitFix::signature(text, tail, chatter, signature),
        });
    };
    let found = &text[place.clone()];
    if found != signature {
        return Err(InitError::OtherSignature {
            expected: signature.to_owned(),
            found: found.to_owned(),
            line: line_at(text, place.start),
            fix: InitFix::other_signature(text, place.start, signature),
        });
    }
    Ok(())
}

/// Decodes a file: drops the byte order mark and converts line ends to LF.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, InitError> {
    // The mark of UTF-16 begins that of UTF-32.
    let marks: [(&[u8], _); 4] = [
        (b"\xff\xfe\0\0", "UTF-32 (little-endian)"),
        (b"\0\0\xfe\xff", "UTF-32 (big-endian)"),
        (b"\xff\xfe", "UTF-16 (little-endian)"),
        (b"\xfe\xff", "UTF-16 (big-endian)"),
    ];
    if let Some((_, encoding)) = marks.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return Err(InitError::Encoding { encoding });
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        InitError::InvalidUtf8 {
            offset,
            line: 1 + memchr::memchr_iter(b'\n', &bytes[..offset]).count(),
        }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    })
}

fn equal_seeds(seeds: &[String]) -> Option<InitWarning> {
    let mut first_of = HashMap::with_capacity(seeds.len());
    let mut pair = None;
    let mut repeats = 0;
    for (place, seed) in seeds.iter().enumerate() {
        let first = *first_of.entry(seed.as_str()).or_insert(place);
        if first < place {
            pair = pair.or(Some([first + 1, place + 1]));
            repeats += 1;
        }
    }
    pair.map(|pair| InitWarning::EqualSeeds { pair, repeats })
}
