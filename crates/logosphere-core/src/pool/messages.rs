//! The pool: every message in the order of arrival. Its newest messages are the active pool, which minds can read.

use std::collections::VecDeque;
use std::ops::Range;

use super::sampler::{SampleRng, draw};
use crate::format::{ParseMode, holds_delimiter, is_blank};

pub use super::number::MessageId;

/// The messages that a pool keeps in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Retention {
    /// The pool keeps every message.
    #[default]
    All,
    /// The messages of the active pool, so that memory use depends on its size only.
    Active,
}

/// The source of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A seed message.
    Seed,
    /// A message that a mind sent.
    Mind,
    /// A message that was put in from outside.
    Injected,
}

/// An append-only list of messages. Texts are never altered or merged, and equal texts stay separate messages.
///
/// ```
/// use logosphere_core::pool::{Origin, Pool, Retention};
/// use logosphere_core::pool::sample_rng;
/// use logosphere_core::{MindId, Round};
///
/// let mut pool = Pool::new(2, Retention::All);
/// for text in ["a", "b", "c"] {
///     pool.add(text, Origin::Seed)?;
/// }
/// let visible: Vec<_> = pool.active().filter_map(|id| pool.text(id)).collect();
/// assert_eq!(visible, ["b", "c"]);
/// assert_eq!(pool.sample(3, &mut sample_rng(42, Round(1), MindId(0))).len(), 2);
/// # Ok::<(), logosphere_core::pool::PoolError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pool {
    max_active: usize,
    mode: ParseMode,
    texts: Texts,
    seeds: u64,
    /// The first message of the active pool since its size was last changed: no older one comes back.
    first: u64,
    /// The messages that cannot be read any more, sorted.
    ablated: Vec<u64>,
    /// A view whose texts stay in memory although it may have left the active pool.
    pinned: Option<ActiveView>,
}

/// The active pool at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveView {
    range: Range<u64>,
    /// Messages of the range that cannot be read, sorted.
    without: Vec<u64>,
}

/// The error of a message that cannot be added, or of a history that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The message is blank, so it could not be distinguished from the end of an answer.
    #[error("a message of white space alone cannot be in the pool")]
    Blank,
    /// The message contains a delimiter line, so it would be read as two messages.
    #[error("a message that holds a delimiter line cannot be in the pool: {start:?}")]
    Delimiter {
        /// The start of the message, at most 40 characters.
        start: String,
    },
    /// The pool was made with [`Retention::Active`], so it has no history.
    #[error("the pool keeps active messages only; the history is in the journal")]
    HistoryNotKept,
}

impl Pool {
    /// Returns an empty pool whose active pool is the newest `max_active` messages.
    pub fn new(max_active: usize, keep: Retention) -> Self {
        Self {
            max_active,
            mode: ParseMode::default(),
            texts: match keep {
                Retention::All => Texts::Arena(Arena::default()),
                Retention::Active => Texts::Ring {
                    first: 0,
                    texts: VecDeque::new(),
                },
            },
            seeds: 0,
            first: 0,
            ablated: Vec::new(),
            pinned: None,
        }
    }

    /// Sets the rules by which a line is a delimiter. Default: [`ParseMode::Lenient`].
    #[must_use]
    pub fn mode(mut self, mode: ParseMode) -> Self {
        self.mode = mode;
        self
    }

    /// Adds a message.
    ///
    /// # Errors
    /// [`PoolError::Blank`] and [`PoolError::Delimiter`]: a text that no answer can have sent.
    pub fn add(&mut self, text: &str, origin: Origin) -> Result<MessageId, PoolError> {
        if is_blank(text) {
            return Err(PoolError::Blank);
        }
        if holds_delimiter(text, self.mode) {
            return Err(PoolError::Delimiter {
                start: text.chars().take(40).collect(),
            });
        }
        let id = MessageId(self.len());
        self.texts.push(text);
        if origin == Origin::Seed {
            self.seeds += 1;
        }
        self.forget();
        Ok(id)
    }

    /// Draws `min(k, active)` messages in random order, each at most once; all orders are equally likely.
    pub fn sample(&self, k: usize, rng: &mut SampleRng) -> Vec<MessageId> {
        self.snapshot().sample(k, rng)
    }

    /// Returns the text of a message; `None` if it is no longer in memory.
    pub fn text(&self, id: MessageId) -> Option<&str> {
        self.texts.get(id)
    }

    /// Returns the ids of the active pool, oldest first.
    pub fn active(&self) -> impl ExactSizeIterator<Item = MessageId> {
        let view = self.snapshot();
        (0..view.len()).map(move |offset| view.id(offset))
    }

    /// Returns the ids of all messages, oldest first.
    ///
    /// # Errors
    /// [`PoolError::HistoryNotKept`].
    pub fn all(&self) -> Result<impl Iterator<Item = MessageId>, PoolError> {
        match self.texts {
            Texts::Arena(_) => Ok((0..self.len()).map(MessageId)),
            Texts::Ring { .. } => Err(PoolError::HistoryNotKept),
        }
    }

    /// Returns the first message of the active pool, of which some may have been taken out.
    pub(crate) fn first_active(&self) -> MessageId {
        MessageId(self.active_range().start)
    }

    /// Returns the number of messages that were added.
    pub fn len(&self) -> u64 {
        self.texts.len()
    }

    /// Returns whether no message was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of seed messages.
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// Returns the number of messages in the active pool.
    pub fn active_len(&self) -> usize {
        self.snapshot().len()
    }

    /// Returns the active pool as it is now, for samples that are drawn later.
    pub fn snapshot(&self) -> ActiveView {
        let range = self.active_range();
        let inside = self.ablated.iter().filter(|id| range.contains(id));
        ActiveView {
            without: inside.copied().collect(),
            range,
        }
    }

    /// Sets the size of the active pool. A larger one grows with new messages: no older one comes back.
    pub fn resize(&mut self, max_active: usize) {
        self.first = self.active_range().start;
        self.max_active = max_active;
        self.forget();
    }

    /// Takes a message out of the active pool. It stays in the history, and no older one comes in its place. Returns whether
    /// it was there.
    pub fn ablate(&mut self, id: MessageId) -> bool {
        let place = self.ablated.binary_search(&id.0);
        match place {
            Err(place) if self.active_range().contains(&id.0) => {
                self.ablated.insert(place, id.0);
                true
            }
            _ => false,
        }
    }

    /// Keeps the texts of a view in memory until [`Pool::unpin`]. It replaces the view that was pinned before.
    pub fn pin(&mut self, view: ActiveView) {
        self.pinned = Some(view);
        self.forget();
    }

    /// Releases the pinned view.
    pub fn unpin(&mut self) {
        self.pinned = None;
        self.forget();
    }

    fn active_range(&self) -> Range<u64> {
        let end = self.len();
        end.saturating_sub(self.max_active as u64).max(self.first)..end
    }

    fn forget(&mut self) {
        let active = self.active_range().start;
        let floor = (self.pinned.as_ref()).map_or(active, |view| view.range.start.min(active));
        self.texts.forget_below(floor);
    }
}

impl ActiveView {
    /// Draws from this view, as [`Pool::sample`] does from the pool.
    pub fn sample(&self, k: usize, rng: &mut SampleRng) -> Vec<MessageId> {
        let offsets = draw(k, self.len(), rng).into_iter();
        offsets.map(|offset| self.id(offset)).collect()
    }

    /// Takes a message out of the view.
    pub fn ablate(&mut self, id: MessageId) {
        if let (Err(place), true) = (
            self.without.binary_search(&id.0),
            self.range.contains(&id.0),
        ) {
            self.without.insert(place, id.0);
        }
    }

    fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize - self.without.len()
    }

    /// The id of the message at a place, the oldest first.
    fn id(&self, place: usize) -> MessageId {
        let mut id = self.range.start + place as u64;
        for without in &self.without {
            id += u64::from(*without <= id);
        }
        MessageId(id)
    }
}

/// The storage of the texts.
#[derive(Debug, Clone)]
enum Texts {
    Arena(Arena),
    Ring {
        first: u64,
        texts: VecDeque<Box<str>>,
    },
}

impl Texts {
    fn push(&mut self, text: &str) {
        match self {
            Self::Arena(arena) => arena.push(text),
            Self::Ring { texts, .. } => texts.push_back(text.into()),
        }
    }

    fn get(&self, id: MessageId) -> Option<&str> {
        match self {
            Self::Arena(arena) => arena.get(usize::try_from(id.0).ok()?),
            Self::Ring { first, texts } => {
                let place = usize::try_from(id.0.checked_sub(*first)?).ok()?;
                texts.get(place).map(AsRef::as_ref)
            }
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Arena(arena) => arena.places.len() as u64,
            Self::Ring { first, texts } => first + texts.len() as u64,
        }
    }

    fn forget_below(&mut self, floor: u64) {
        if let Self::Ring { first, texts } = self {
            while *first < floor && texts.pop_front().is_some() {
                *first += 1;
            }
        }
    }
}

/// Texts one after another in large chunks, with an offset of eight bytes for each text.
#[derive(Debug, Clone, Default)]
struct Arena {
    chunks: Vec<String>,
    places: Vec<TextOffset>,
}

/// The start of a text. It ends where the next text of its chunk begins.
#[derive(Debug, Clone, Copy)]
struct TextOffset {
    chunk: u32,
    start: u32,
}

/// The size of a chunk in bytes. A longer text has a separate chunk.
const CHUNK: usize = 1 << 20;

impl Arena {
    fn push(&mut self, text: &str) {
        let full = |chunk: &String| chunk.len() + text.len() > CHUNK;
        if self.chunks.last().is_none_or(full) {
            self.chunks
                .push(String::with_capacity(CHUNK.max(text.len())));
        }
        let chunk = self.chunks.len() - 1;
        let last = &mut self.chunks[chunk];
        self.places.push(TextOffset {
            chunk: chunk as u32,
            start: last.len() as u32,
        });
        last.push_str(text);
    }

    fn get(&self, id: usize) -> Option<&str> {
        let place = self.places.get(id)?;
        let chunk = &self.chunks[place.chunk as usize];
        let end = match self.places.get(id + 1) {
            Some(next) if next.chunk == place.chunk => next.start as usize,
            _ => chunk.len(),
        };
        Some(&chunk[place.start as usize..end])
    }
}
