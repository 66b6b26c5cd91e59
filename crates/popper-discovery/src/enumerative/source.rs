//! The sources of laws: parts of the grammar, and mutations. Each is a walk that continues where the last iteration left it.

use std::collections::VecDeque;
use std::iter;

use popper_harness::law::Law;

use super::draft::{LawDraft, read};
use super::grammar::{BoxedIterator, DraftSequence, GrammarEnumerator, in_turn};
use super::mutation;
use super::observations::ObservationMatrix;
use crate::snapshot::{Cursor, Snapshot, StoredLaws};
use crate::store::StoreError;

/// The number of drafts that a source reads first, before it asks which of them are stored.
const FIRST_AHEAD: usize = 8;
/// The most drafts of one question.
const MOST_AHEAD: usize = 500;
/// The number of drafts that a walk reads first after its observations have changed.
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

    /// The widest patterns, in cells, whose conserved sums decide what the walk is. 0 if no conserved sum does.
    fn width(self) -> usize {
        match self {
            Self::Invariant | Self::Monotone => 2,
            Self::Wide => 3,
            _ => 0,
        }
    }
}

/// The parts of a walk whose observations have changed.
///
/// Most of its drafts were those of the walks before it, too, so that a walk through all of them would become longer with each law
/// of the run. But some were left out by the observations of that time, so that they are read again between new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The first [`READ_AGAIN`] drafts.
    First,
    /// The drafts between these and the furthest position.
    Between,
    /// The drafts that no walk has read.
    New,
}

/// The position of a walk in each of its parts.
#[derive(Debug, Clone, Copy)]
struct Positions {
    /// The number of first drafts that were read, up to [`READ_AGAIN`].
    first: u64,
    /// The next draft between. The one after the last is the first of them: a walk begins where the one before it has left off.
    between: u64,
    /// The number of drafts between that are still to be read.
    left: u64,
    /// The end of those between.
    end: u64,
    /// The number of drafts that any walk has read.
    furthest: u64,
}

impl Positions {
    /// The keys of a cursor, each after the name of the source; the furthest position has the name alone.
    const KEYS: [&str; 3] = ["between", "left", "end"];

    /// The positions of a walk in a cursor. `key` is that of the walk with these observations.
    fn read(cursor: &Cursor, name: &str, key: &str) -> Self {
        let stored = |key: &str| cursor.get(key).copied();
        let furthest = stored(name).unwrap_or(0);
        let [between, left, end] =
            Self::KEYS.map(|part| stored(&format!("{name} {part}")).unwrap_or(0));
        if let Some(first) = stored(key) {
            // A cursor is data of a database: each position is in its range.
            let end = end.min(furthest);
            let is_between = (READ_AGAIN..end).contains(&between);
            return Self {
                first: first.min(READ_AGAIN),
                between: if is_between { between } else { READ_AGAIN },
                left: left.min(end.saturating_sub(READ_AGAIN)),
                end,
                furthest,
            };
        }
        Self {
            first: 0,
            between: if between < furthest {
                between.max(READ_AGAIN)
            } else {
                READ_AGAIN
            },
            left: furthest.saturating_sub(READ_AGAIN),
            end: furthest,
            furthest,
        }
    }

    /// Writes the positions into a cursor in place of those of the walks before.
    fn write(self, cursor: &mut Cursor, name: &str, key: &str) {
        cursor.retain(|key, _| key.split(' ').next() != Some(name));
        cursor.insert(name.to_owned(), self.furthest);
        if key == name {
            return;
        }
        cursor.insert(key.to_owned(), self.first);
        for (part, position) in Self::KEYS.iter().zip([self.between, self.left, self.end]) {
            cursor.insert(format!("{name} {part}"), position);
        }
    }

    /// Counts a draft.
    fn count(&mut self, part: Part) {
        match part {
            Part::First => {
                self.first += 1;
                self.furthest = self.furthest.max(self.first);
            }
            Part::Between => {
                self.left -= 1;
                self.between += 1;
                if self.between >= self.end {
                    self.between = READ_AGAIN;
                }
            }
            Part::New => self.furthest = self.furthest.saturating_add(1),
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
    walk: PartSequence<'a>,
    /// The key of the walk in a cursor; `None` for a mutation.
    key: Option<String>,
    at: Positions,
    ahead: VecDeque<(Part, Ahead)>,
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

    /// The drafts from these positions on, each with its part: the first ones, then those between and the new ones in turn. A walk that
    /// no conserved sum decides has new ones alone.
    fn walk(self, at: Positions) -> PartSequence<'a> {
        let part = |part: Part, begin: u64, count: u64| -> PartSequence<'a> {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let drafts = iter::once_with(move || self.from(begin).take(count)).flatten();
            Box::new(drafts.map(move |draft| (part, draft)))
        };
        if self.kind.width() == 0 {
            return part(Part::New, at.furthest, u64::MAX);
        }
        let until = at.left.min(at.end.saturating_sub(at.between));
        let between = part(Part::Between, at.between, until);
        let again = part(Part::Between, READ_AGAIN, at.left - until);
        let new = part(Part::New, at.furthest.max(READ_AGAIN), u64::MAX);
        let later = in_turn(vec![Box::new(between.chain(again)), new]);
        let first = part(Part::First, at.first, READ_AGAIN - at.first);
        Box::new(first.chain(later))
    }
}

/// Drafts with their parts.
type PartSequence<'a> = BoxedIterator<'a, (Part, Option<LawDraft>)>;

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
            // Other observations make another walk, which begins again.
            width => format!("{name} {}", grammar.conserved_digest(width)),
        });
        let name = kind.name().unwrap_or_default();
        let at = Positions::read(&snapshot.cursor, name, key.as_deref().unwrap_or_default());
        OpenSource {
            walk: self.drafts.walk(at),
            key,
            at,
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
        let Some((part, next)) = open.ahead.pop_front() else {
            return Ok(None);
        };
        open.at.count(part);
        Ok(Some(next))
    }

    /// Writes the position into a cursor. A source that did not begin stays where it was.
    pub(super) fn mark(&self, cursor: &mut Cursor) {
        let Some(OpenSource {
            key: Some(key), at, ..
        }) = &self.open
        else {
            return;
        };
        let name = self.drafts.kind.name().unwrap_or_default();
        at.write(cursor, name, key);
    }
}

impl OpenSource<'_> {
    /// Reads some drafts, and asks once which of them are stored.
    async fn read_ahead(
        &mut self,
        symbols: &[char],
        stored: &mut dyn StoredLaws,
    ) -> Result<(), StoreError> {
        let drafts = self.walk.by_ref().take(self.size).map(|(part, draft)| {
            let law = draft.as_ref().and_then(|draft| read(draft.law(symbols)));
            let ahead = Ahead {
                fingerprint: law.as_ref().map(Law::fingerprint).unwrap_or_default(),
                law,
                is_known: false,
            };
            (part, ahead)
        });
        let mut drafts: Vec<(Part, Ahead)> = drafts.collect();
        self.size = (2 * self.size).min(MOST_AHEAD);
        let asked = drafts.iter().map(|(_, draft)| draft);
        let asked = asked.filter(|draft| draft.law.is_some());
        let asked: Vec<String> = asked.map(|draft| draft.fingerprint.clone()).collect();
        if !asked.is_empty() {
            let known = stored.known(&asked).await?;
            for (_, draft) in &mut drafts {
                draft.is_known = draft.law.is_some() && known.contains(&draft.fingerprint);
            }
        }
        self.ahead.extend(drafts);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use popper_harness::decide::{Config, Harness};
    use popper_harness::universe::KineticGrid;
    use serde_json::json;

    use super::*;
    use crate::snapshot::{Capabilities, Falsified, UniverseContract};

    /// No conserved sum decides these drafts, so that there is one walk of them, however many they are.
    #[test]
    fn mutations_are_walked_once() {
        let harness = Harness::new(KineticGrid, Config::default()).unwrap();
        let contract = UniverseContract::of(harness.universe());
        let mut snapshot = Snapshot::new(contract, Capabilities::of(&harness));
        let law = json!({
            "law_id": "grows", "template": "monotone", "quantifiers": {"T": 20}, "forbidden": "less",
            "observables": [{"name": "f", "expr": "count('>')"}], "claim": "f(t+1) >= f(t)",
        });
        let falsified: Falsified = serde_json::from_value(json!({
            "law_fingerprint": "", "law": read(law).unwrap().normal(),
            "counterexample": {
                "template": "monotone", "initial_state": "><", "t_fail": 0, "excerpt": [],
                "witness": {"now": {}, "next": {}, "left": "0", "op": "<", "right": "0"},
            },
        }))
        .unwrap();
        snapshot.falsified = vec![falsified; 50];
        let evidence = ObservationMatrix::of(&snapshot);
        let grammar = GrammarEnumerator::new(&snapshot.contract, &evidence, 0);
        let source = Source::new(Kind::Weaker, &grammar, &snapshot, &evidence);
        let all = source.drafts.from(0).count();
        assert!(all > 2 * READ_AGAIN as usize, "{all}");
        assert_eq!(source.begin().walk.count(), all);
    }
}
