//! The check that every state with P is followed by one with Q within a number of steps.

use super::super::certificate::{RegularCase, RegularReason};
use super::super::obligation::Inequalities;
use super::conjunction::UniverseFacts;
use super::walks::Walks;
use super::windows::RingKind;
use super::words::WordSet;
use super::{MAX_LAW, MAX_WORD, strings};

/// A claim that Q follows P within a number of steps, as disjunctions of conjunctions of inequalities.
pub(in super::super) struct Response<'a> {
    pub universe: &'a UniverseFacts<'a>,
    /// The admissible starts.
    pub starts: &'a [Inequalities],
    /// The states with P and without Q.
    pub open: &'a [Inequalities],
    /// The states without Q.
    pub unmet: &'a [Inequalities],
    /// The number of steps.
    pub window: u64,
}

impl Response<'_> {
    /// Returns the words of a length on the rings of some kind that meet one of several conjunctions.
    fn words(
        &self,
        rings: RingKind<'_>,
        conjunctions: &[Inequalities],
        length: usize,
    ) -> Option<WordSet> {
        let UniverseFacts { rule, fuel, .. } = self.universe;
        let mut words = WordSet::new(rule.symbols(), length)?;
        for conjunction in conjunctions {
            let readable: Vec<_> = conjunction
                .iter()
                .filter(|form| super::conjunction::is_readable(form))
                // What is said of the start restricts no later state.
                .filter(|form| matches!(rings, RingKind::Starting(_)) || !form.reads(true))
                .cloned()
                .collect();
            words.extend(&Walks::new(rule, rings, &readable, &[], length, fuel)?.words(length)?);
        }
        Some(words)
    }

    /// Returns the words of the states from the start on, the starts among them.
    fn starts(&self, length: usize) -> Option<WordSet> {
        self.words(
            RingKind::Starting(self.universe.starting),
            self.starts,
            length,
        )
    }

    /// Returns the words of the states of a region with P and without Q.
    fn first(&self, region: &WordSet) -> Option<WordSet> {
        self.words(RingKind::Within(region), self.open, region.length())
    }

    /// Returns the words of the states without Q that follow states of some words.
    fn next(&self, words: &WordSet) -> Option<WordSet> {
        let UniverseFacts { rule, fuel, .. } = self.universe;
        fuel.take(self.step_cost(words.length())?)?;
        let longer = words.length() + 2 * rule.radius();
        let longer = self.words(RingKind::Within(words), &[Inequalities::new()], longer)?;
        self.words(
            RingKind::Within(&longer.image(rule)?),
            self.unmet,
            words.length(),
        )
    }

    /// Returns the work that the words of one step more count for: the strings that are looked at.
    fn step_cost(&self, length: usize) -> Option<usize> {
        let rule = self.universe.rule;
        strings(rule.symbols(), length + 2 * rule.radius())
    }

    /// Searches for a case that shows the claim.
    pub fn search(&self) -> Option<RegularCase> {
        (1..=MAX_WORD).find_map(|length| self.case(length))
    }

    fn case(&self, length: usize) -> Option<RegularCase> {
        let alphabet = self.universe.alphabet;
        let start = self.starts(length)?;
        let region = start.clone().closure(self.universe.rule)?;
        let mut sets = vec![self.first(&region)?];
        while let Some(last) = sets.last().filter(|last| !last.is_empty()) {
            let next = self.next(last)?;
            // A set that comes again never becomes empty.
            if sets.len() as u64 > self.window || sets.contains(&next) {
                return None;
            }
            sets.push(next);
        }
        let sets = sets.iter().map(|set| set.write(alphabet)).collect();
        Some(RegularCase {
            m: length,
            s: 0,
            start_words: start.write(alphabet),
            words: region.write(alphabet),
            refutation: RegularReason::Rank { sets },
        })
    }

    /// Whether a case of a certificate shows the claim. `None` beyond the limits or where the case is malformed.
    pub fn is_shown_by(&self, case: &RegularCase) -> Option<bool> {
        let RegularReason::Rank { sets } = &case.refutation else {
            return None;
        };
        if !(1..=MAX_WORD).contains(&case.m) || case.s != 0 {
            return None;
        }
        // A file may list any number of sets, so they are counted before they are read.
        let cost = self.step_cost(case.m)?.checked_mul(sets.len())?;
        if cost as u64 > MAX_LAW {
            return None;
        }
        let alphabet = self.universe.alphabet;
        let read = |words| WordSet::read(words, case.m, alphabet);
        let (start, region) = (read(&case.start_words)?, read(&case.words)?);
        let sets: Vec<WordSet> = sets
            .iter()
            .map(|words| read(words))
            .collect::<Option<_>>()?;
        let (first, last) = (sets.first()?, sets.last()?);
        for pair in sets.windows(2) {
            if !self.next(&pair[0])?.is_subset(&pair[1]) {
                return Some(false);
            }
        }
        Some(
            last.is_empty()
                && sets.len() as u64 - 1 <= self.window
                && self.starts(case.m)?.is_subset(&start)
                && start.is_subset(&region)
                && region.successors(self.universe.rule)?.is_subset(&region)
                && self.first(&region)?.is_subset(first),
        )
    }
}
