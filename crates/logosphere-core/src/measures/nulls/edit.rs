//! The changes from a parent to its child, and their application to another text.

use crate::measures::lcs::alignment;
use crate::measures::lists::MOST_TOKENS;
use crate::pool::SampleRng;

/// The source of a token that a child has and its parent does not have there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditSource {
    /// The token of the parent at, before or after the place.
    Dup,
    /// A token of another text that the call read.
    Read,
    /// A token elsewhere in the parent.
    Parent,
    /// No text: the token itself is added.
    Own,
}

/// A token that is added, with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Added {
    source: EditSource,
    token: u32,
}

/// The change of one token of a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Keep,
    Delete,
    Replace(Added),
}

/// A change, and the end of the tokens that are added after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EditStep {
    change: Change,
    end: u32,
}

/// The changes from a parent to its child: one per token of the parent, each with the tokens that are added after it.
///
/// They come from a longest common subsequence. Between two common tokens the tokens of parent and child replace each
/// other one by one; what is left of the parent is deleted, and what is left of the child is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    steps: Box<[EditStep]>,
    /// The tokens added before the first token, then those after each step.
    added: Box<[Added]>,
    /// The number of tokens before the first one.
    before: u32,
}

impl Edit {
    /// Returns the changes from `parent` to `child`. `others` are the other texts that the call read.
    pub fn between(parent: &[u32], child: &[u32], others: &[&[u32]]) -> Self {
        let source = |token: u32, place: usize| {
            let near = place.saturating_sub(1)..(place + 2).min(parent.len());
            let source = if parent[near].contains(&token) {
                EditSource::Dup
            } else if others.iter().any(|other| other.contains(&token)) {
                EditSource::Read
            } else if parent.contains(&token) {
                EditSource::Parent
            } else {
                EditSource::Own
            };
            Added { source, token }
        };
        let mut steps = Vec::with_capacity(parent.len());
        let mut added = Vec::new();
        let (mut i, mut j) = (0, 0);
        let mut before = 0;
        let end = std::iter::once((parent.len(), child.len()));
        for (to_i, to_j) in alignment(parent, child).into_iter().chain(end) {
            for place in i..to_i {
                let change = if j < to_j {
                    j += 1;
                    Change::Replace(source(child[j - 1], place))
                } else {
                    Change::Delete
                };
                let end = added.len() as u32;
                steps.push(EditStep { change, end });
            }
            let place = steps.len().saturating_sub(1);
            added.extend(child[j..to_j].iter().map(|&token| source(token, place)));
            match steps.last_mut() {
                Some(last) => last.end = added.len() as u32,
                None => before = added.len() as u32,
            }
            if to_i < parent.len() {
                let end = added.len() as u32;
                let change = Change::Keep;
                steps.push(EditStep { change, end });
            }
            (i, j) = (to_i + 1, to_j + 1);
        }
        Self {
            steps: steps.into(),
            added: added.into(),
            before,
        }
    }

    /// Returns the number of tokens of the parent.
    pub fn parent_length(&self) -> usize {
        self.steps.len()
    }

    /// Returns the sources of the tokens that are replaced or added, in no particular order.
    pub fn sources(&self) -> impl Iterator<Item = EditSource> {
        let replaced = self.steps.iter().filter_map(|step| match step.change {
            Change::Replace(added) => Some(added.source),
            Change::Keep | Change::Delete => None,
        });
        replaced.chain(self.added.iter().map(|added| added.source))
    }

    /// Returns the child of `parent`, with the very tokens that were added.
    pub fn child_of(&self, parent: &[u32]) -> Vec<u32> {
        self.walked(parent, |added, _| added.token)
    }

    /// Returns `text` with these changes; token `i` of `n` has change `i d / n`, rounded down, of `d`.
    ///
    /// Added tokens come from the same source as in the run: the token at the place, one of the tokens of `others` (the
    /// other texts that the call reads), one of `text`, or the token itself. All tokens of a source are equally likely.
    /// A result without a token or of more than 512 tokens is unchanged text or cut.
    pub fn apply(&self, text: &[u32], others: &[&[u32]], rng: &mut SampleRng) -> Vec<u32> {
        let readable: usize = others.iter().map(|other| other.len()).sum();
        let any_of_text = |rng: &mut SampleRng| text[rng.below(text.len() as u64) as usize];
        let draw = |added: Added, place: usize| match added.source {
            EditSource::Dup => text[place],
            EditSource::Read if readable > 0 => {
                let mut at = rng.below(readable as u64) as usize;
                let holder = others.iter().find(|other| {
                    let is_here = at < other.len();
                    if !is_here {
                        at -= other.len();
                    }
                    is_here
                });
                holder.map_or(added.token, |other| other[at])
            }
            EditSource::Read | EditSource::Parent => any_of_text(rng),
            EditSource::Own => added.token,
        };
        let mut changed = self.walked(text, draw);
        if changed.is_empty() {
            return text.to_vec();
        }
        changed.truncate(MOST_TOKENS);
        changed
    }

    fn walked(&self, text: &[u32], mut draw: impl FnMut(Added, usize) -> u32) -> Vec<u32> {
        if text.is_empty() || self.steps.is_empty() {
            return text.to_vec();
        }
        let mut changed = Vec::with_capacity(text.len() + self.added.len());
        let before = &self.added[..self.before as usize];
        changed.extend(before.iter().map(|&added| draw(added, 0)));
        for (place, &token) in text.iter().enumerate() {
            let at = place * self.steps.len() / text.len();
            let step = self.steps[at];
            match step.change {
                Change::Keep => changed.push(token),
                Change::Delete => {}
                Change::Replace(added) => changed.push(draw(added, place)),
            }
            let start = match at {
                0 => self.before,
                _ => self.steps[at - 1].end,
            };
            let added = &self.added[start as usize..step.end as usize];
            changed.extend(added.iter().map(|&added| draw(added, place)));
        }
        changed
    }
}
