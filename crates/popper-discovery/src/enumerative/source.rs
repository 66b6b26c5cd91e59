//! The sources of laws: parts of the grammar, and mutations. Each is a walk that continues where the last iteration left it.

use std::collections::VecDeque;
use std::iter;

use popper_harness::law::Law;

use super::draft::read;
use super::grammar::{DraftSequence, GrammarEnumerator};
use super::mutation;
use super::observations::ObservationMatrix;
use crate::snapshot::{Cursor, Snapshot, StoredLaws};
use crate::store::StoreError;

/// The number of drafts that a source reads first, before it asks which of them are stored.
const FIRST_AHEAD: usize = 8;
/// The most drafts of one question.
const MOST_AHEAD: usize = 500;
/// The number of drafts that a walk which begins again reads before it continues at the furthest position of the walks before it. Most of
/// its drafts were theirs, too, so that a walk through all of them would become longer with each law of the run.
const READ_AGAIN: u64 = 100;

/// The kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Invariant,
    Wide,
    Symmetry,
    Step,
    Bound,
    Monotone,
    State,
    Eventually,
    Weaker,
    Stronger,
}

impl Kind {
    pub(super) const ALL: [Self; 10] = [
        Self::Invariant,
        Self::Wide,
        Self::Symmetry,
        Self::Step,
        Self::Bound,
        Self::Monotone,
        Self::State,
        Self::Eventually,
        Self::Weaker,
        Self::Stronger,
    ];

    /// The name of the source in a cursor. `None` for a mutation: its walk is short, and each iteration has another.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Invariant => "invariant",
            Self::Wide => "wide",
            Self::Symmetry => "symmetry",
            Self::Step => "step",
            Self::Bound => "bound",
            Self::Monotone => "monotone",
            Self::State => "state",
            Self::Eventually => "eventually",
            Self::Weaker | Self::Stronger => return None,
        })
    }

    /// The widest patterns, in cells, whose conserved sums decide what the walk is. 0 if it is the same with any observations.
    fn width(self) -> usize {
        match self {
            Self::Invariant | Self::Monotone => 2,
            Self::Wide => 3,
            _ => 0,
        }
    }
}

/// A draft that was read ahead.
pub(super) struct Ahead {
    /// `None` if the draft is not a law, or if the observations leave it out.
    pub law: Option<Law>,
    pub fingerprint: String,
    /// Whether the run has stored the law.
    pub is_known: bool,
}

/// A walk, with the drafts that were read ahead.
pub(super) struct Source<'a> {
    drafts: Drafts<'a>,
    open: Option<OpenSource<'a>>,
}

struct OpenSource<'a> {
    walk: DraftSequence<'a>,
    /// The key of the walk in a cursor.
    key: Option<String>,
    /// The number of drafts before the next one.
    position: u64,
    /// The greatest position of all walks of this kind.
    furthest: u64,
    ahead: VecDeque<Ahead>,
    /// The number of drafts to read next.
    size: usize,
}

/// All drafts of a kind.
#[derive(Clone, Copy)]
struct Drafts<'a> {
    kind: Kind,
    grammar: &'a GrammarEnumerator<'a>,
    snapshot: &'a Snapshot,
    evidence: &'a ObservationMatrix,
}

impl<'a> Drafts<'a> {
    fn from(self, position: u64) -> DraftSequence<'a> {
        let grammar = self.grammar;
        let skip = usize::try_from(position).unwrap_or(usize::MAX);
        let stream = match self.kind {
            Kind::Monotone => return grammar.monotone(skip),
            Kind::Step => grammar.steps(skip),
            Kind::State => grammar.states(skip),
            Kind::Invariant => Box::new(grammar.invariants().skip(skip)),
            Kind::Wide => Box::new(grammar.wide_invariants().skip(skip)),
            Kind::Symmetry => Box::new(grammar.symmetries().skip(skip)),
            Kind::Bound => Box::new(grammar.bounds().skip(skip)),
            Kind::Eventually => Box::new(grammar.eventually().skip(skip)),
            Kind::Weaker => mutation::weaker(self.snapshot, self.evidence),
            Kind::Stronger => mutation::stronger(self.snapshot, self.evidence),
        };
        Box::new(stream.map(Some))
    }

    /// The drafts from a position; those between the first [`READ_AGAIN`] and the furthest position are left out.
    fn walk(self, position: u64, furthest: u64) -> DraftSequence<'a> {
        let Some(first) = READ_AGAIN.checked_sub(position) else {
            return self.from(position);
        };
        let later = iter::once_with(move || self.from(furthest.max(READ_AGAIN)));
        Box::new(
            self.from(position)
                .take(first as usize)
                .chain(later.flatten()),
        )
    }
}

impl<'a> Source<'a> {
    /// A source that begins when it is first asked.
    pub(super) fn new(
        kind: Kind,
        grammar: &'a GrammarEnumerator<'a>,
        snapshot: &'a Snapshot,
        evidence: &'a ObservationMatrix,
    ) -> Self {
        let drafts = Drafts {
            kind,
            grammar,
            snapshot,
            evidence,
        };
        Self { drafts, open: None }
    }

    fn begin(&self) -> OpenSource<'a> {
        let Drafts {
            kind,
            grammar,
            snapshot,
            ..
        } = self.drafts;
        let key = kind.name().map(|name| match kind.width() {
            0 => name.to_owned(),
            // Other observations make another walk, which begins anew.
            width => format!("{name} {}", grammar.conserved_digest(width)),
        });
        let stored = |key: Option<&str>| key.and_then(|key| snapshot.cursor.get(key)).copied();
        let position = stored(key.as_deref()).unwrap_or(0);
        let furthest = stored(kind.name()).unwrap_or(0);
        OpenSource {
            walk: self.drafts.walk(position, furthest),
            key,
            position,
            furthest,
            ahead: VecDeque::new(),
            size: FIRST_AHEAD,
        }
    }

    /// Takes the next draft. `None` at the end of the walk.
    pub(super) async fn next(
        &mut self,
        stored: &mut dyn StoredLaws,
    ) -> Result<Option<Ahead>, StoreError> {
        if self.open.is_none() {
            self.open = Some(self.begin());
        }
        let symbols = &self.drafts.snapshot.contract.symbols;
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        if open.ahead.is_empty() {
            open.read_ahead(symbols, stored).await?;
        }
        let next = open.ahead.pop_front();
        open.position += u64::from(next.is_some());
        if open.position == READ_AGAIN {
            open.position = open.furthest.max(READ_AGAIN);
        }
        open.furthest = open.furthest.max(open.position);
        Ok(next)
    }

    /// Writes the position into a cursor. A source that did not begin stays where it was.
    pub(super) fn mark(&self, cursor: &mut Cursor) {
        let (Some(name), Some(open)) = (self.drafts.kind.name(), &self.open) else {
            return;
        };
        cursor.retain(|key, _| key.split(' ').next() != Some(name));
        cursor.insert(name.to_owned(), open.furthest);
        if let Some(key) = &open.key {
            cursor.insert(key.clone(), open.position);
        }
    }
}

impl OpenSource<'_> {
    /// Reads some drafts, and asks once which of them are stored.
    async fn read_ahead(
        &mut self,
        symbols: &[char],
        stored: &mut dyn StoredLaws,
    ) -> Result<(), StoreError> {
        let drafts = self.walk.by_ref().take(self.size).map(|draft| {
            let law = draft.as_ref().and_then(|draft| read(draft.law(symbols)));
            Ahead {
                fingerprint: law.as_ref().map(Law::fingerprint).unwrap_or_default(),
                law,
                is_known: false,
            }
        });
        let mut drafts: Vec<Ahead> = drafts.collect();
        self.size = (2 * self.size).min(MOST_AHEAD);
        let asked = drafts.iter().filter(|draft| draft.law.is_some());
        let asked: Vec<String> = asked.map(|draft| draft.fingerprint.clone()).collect();
        if !asked.is_empty() {
            let known = stored.known(&asked).await?;
            for draft in &mut drafts {
                draft.is_known = draft.law.is_some() && known.contains(&draft.fingerprint);
            }
        }
        self.ahead.extend(drafts);
        Ok(())
    }
}
