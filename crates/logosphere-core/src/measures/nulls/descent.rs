//! Neutral descent with modification: runs in which each text that was read is equally likely to be passed on.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest as _, Sha256};

use super::choice::{Choice, Scores};
use super::donors::Donors;
use super::edit::Edit;
use super::kind::Null;
use crate::measures::lineage::{ParentSearch, readable};
use crate::measures::lists::Lists;
use crate::measures::metrics::corpus::Corpus;
use crate::pool::{MessageId, SampleRng};
use crate::verify::{Message, Transcript};

/// The lists of a null run, and the text that each message is a copy of.
pub(super) type NullRun = (Lists, Vec<Option<usize>>);

/// The null model of neutral descent for one run.
///
/// A null run has the seed messages, calls, samples and numbers of messages of the run. Each message is new with
/// the probability that a message of the run has no parent. Otherwise it is a copy of one of the texts that its call
/// reads *in the null run*, all equally likely, and has the changes of a random pair of parent and child of the run
/// whose parent has about its length. Typing errors, words taken over from neighbours, growth and drift are so in the
/// model; only what a text says has no influence.
#[derive(Debug)]
pub struct DescentModel<'a> {
    run: &'a Transcript,
    seed: u64,
    /// The words by token.
    words: Vec<String>,
    /// The number of characters of each token.
    letters: Vec<u32>,
    /// The lists of the run.
    lists: Lists,
    /// The parent of each message; `None` for seed messages and innovations.
    parents: Vec<Option<usize>>,
    /// The lists of seed messages, then those of innovations, which null runs begin with.
    base: Lists,
    /// The kinds of the lists in `base`.
    known: HashMap<Box<[u32]>, u32>,
    /// The kinds of innovations in `base`.
    new: Vec<u32>,
    /// The kinds of the messages after the seeds that no call sent: null runs have them, too.
    given: BTreeMap<usize, u32>,
    donors: Donors,
}

/// The number of calls' messages without a parent over all messages of calls, 0 to 1.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl<'a> DescentModel<'a> {
    /// Returns the model of a run, with parents by rule `lcs/1` and random choices of `seed`.
    pub fn new(run: &'a Transcript, seed: u64) -> Self {
        Self::of_corpus(run, &Corpus::of(run), seed)
    }

    /// Returns the model of a run with this corpus.
    pub(crate) fn of_corpus(run: &'a Transcript, corpus: &Corpus<'_>, seed: u64) -> Self {
        let lists = Lists::of(corpus);
        let mut search = ParentSearch::default();
        let mut parents = vec![None; lists.messages()];
        for (reads, child) in children(run) {
            // A parent that data names is one of the reads.
            let given = run.messages[child].given_parents.first();
            parents[child] = match given {
                Some(given) => Some(given.index()).filter(|given| reads.contains(given)),
                None => (search.best(&lists, &reads, child)).map(|(place, _)| reads[place]),
            };
        }
        Self::with(run, corpus, lists, parents, seed)
    }

    /// Returns the model of a run whose parents are known. A parent that the call did not read is left out.
    pub fn with_parents(run: &'a Transcript, parents: &[Option<MessageId>], seed: u64) -> Self {
        let corpus = Corpus::of(run);
        let lists = Lists::of(&corpus);
        let mut known = vec![None; lists.messages()];
        for (reads, child) in children(run) {
            let parent = parents.get(child).copied().flatten().map(MessageId::index);
            known[child] = parent.filter(|parent| reads.contains(parent));
        }
        Self::with(run, &corpus, lists, known, seed)
    }

    fn with(
        run: &'a Transcript,
        corpus: &Corpus<'_>,
        lists: Lists,
        parents: Vec<Option<usize>>,
        seed: u64,
    ) -> Self {
        let mut base = Lists::default();
        let mut new = Vec::new();
        let mut kinds: HashMap<u32, u32> = HashMap::new();
        let mut based = |kind: u32, base: &mut Lists| {
            *(kinds.entry(kind)).or_insert_with(|| base.add(lists.of_kind(kind)))
        };
        for message in 0..run.seeds.min(lists.messages()) {
            let kind = based(lists.kind_of(message), &mut base);
            base.push(kind);
        }
        let mut given = BTreeMap::new();
        for (message, _) in without_call(run).filter(|(message, _)| *message < lists.messages()) {
            given.insert(message, based(lists.kind_of(message), &mut base));
        }
        let mut pairs = Vec::new();
        for (reads, child) in children(run) {
            let Some(parent) = parents[child] else {
                new.push(based(lists.kind_of(child), &mut base));
                continue;
            };
            let list = lists.of_message(parent);
            let is_equal = lists.kind_of(parent) == lists.kind_of(child);
            let edit = (!is_equal).then(|| {
                let others: Vec<&[u32]> = (reads.iter())
                    .filter(|read| **read != parent)
                    .map(|&read| lists.of_message(read))
                    .collect();
                Edit::between(list, lists.of_message(child), &others)
            });
            pairs.push((list.len(), edit));
        }
        let words = corpus.words().to_vec();
        Self {
            run,
            seed,
            letters: words
                .iter()
                .map(|word| word.chars().count() as u32)
                .collect(),
            words,
            lists,
            parents,
            known: known(&base),
            base,
            new,
            given,
            donors: Donors::new(pairs),
        }
    }

    /// Returns the number of pairs of parent and child in the run.
    pub fn pairs(&self) -> usize {
        self.donors.len()
    }

    /// Returns the number of messages of calls, with and without a parent.
    pub fn messages(&self) -> usize {
        self.donors.len() + self.new.len()
    }

    /// Returns the share of messages without a parent, 0 to 1; 0 without messages.
    pub fn novelty_rate(&self) -> f64 {
        share(self.new.len(), self.messages())
    }

    /// Returns the number of tokens of the run that a null run has about as many of.
    pub(super) fn size(&self) -> u64 {
        self.lists.size()
    }

    /// Returns the words by token.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the scores of the run.
    pub fn choice(&self) -> Choice {
        self.scores().by_text(&self.words)
    }

    /// Returns the scores of null run `index`, which depend on its number and the seed alone.
    pub fn null_choice(&self, index: u32) -> Choice {
        self.choice_of(&self.null_run(index))
    }

    /// Returns the texts of null run `index`: the tokens of each message, one space apart.
    pub fn null_texts(&self, index: u32) -> Vec<String> {
        let (lists, _) = self.null_run(index);
        let text = |message| {
            let words = lists.of_message(message).iter();
            let words: Vec<&str> = words
                .map(|&token| self.words[token as usize].as_str())
                .collect();
            words.join(" ")
        };
        (0..lists.messages()).map(text).collect()
    }

    /// Returns the scores of the run, with its own parents.
    pub(super) fn scores(&self) -> Scores {
        let mut search = ParentSearch::default();
        self.scored(&self.lists, &mut search, |child, reads, _| {
            let parent = self.parents[child]?;
            reads.iter().position(|&read| read == parent)
        })
    }

    /// Returns the scores of a null run, with parents found as in the run: by the rule, or known if data names them.
    pub(super) fn scores_of(&self, lists: &Lists, drawn: &[Option<usize>]) -> Scores {
        let mut search = ParentSearch::default();
        self.scored(lists, &mut search, |child, reads, search| {
            if self.run.messages[child].given_parents.is_empty() {
                search.best(lists, reads, child).map(|(place, _)| place)
            } else {
                let parent = drawn[child]?;
                reads.iter().position(|&read| read == parent)
            }
        })
    }

    fn scored(
        &self,
        lists: &Lists,
        search: &mut ParentSearch,
        parent: impl Fn(usize, &[usize], &mut ParentSearch) -> Option<usize>,
    ) -> Scores {
        let mut scores = Scores::new(self.words.len());
        let mut sent = Vec::new();
        for call in &self.run.calls {
            let Some(first) = call.added.iter().min() else {
                continue;
            };
            let reads = readable(&call.sampled, *first);
            sent.clear();
            sent.resize(reads.len(), 0);
            for &child in call.added.iter().filter(|id| id.index() < lists.messages()) {
                if let Some(place) = parent(child.index(), &reads, search) {
                    sent[place] += 1;
                }
            }
            scores.add(lists, &reads, &sent, search);
        }
        scores
    }

    /// Returns the lists of the run.
    pub(super) fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Returns the corpus of these lists.
    pub(super) fn corpus(&self, lists: Lists) -> Corpus<'static> {
        lists.into_corpus(&self.letters)
    }

    /// Returns the number of messages in the window of the run.
    pub(super) fn window(&self) -> usize {
        self.run.active
    }

    /// Returns the weight of texts with a word, as [`DescentModel::run_favouring`] takes it; `None` if no text has it.
    pub(super) fn favour(&self, word: &str, weight: f64) -> Option<Favour> {
        let token = self.words.iter().position(|known| known == word)?;
        let token = token as u32;
        Some(Favour { token, weight })
    }

    /// Returns the scores of another run by the text of each word.
    pub(super) fn choice_of(&self, (lists, drawn): &NullRun) -> Choice {
        self.scores_of(lists, drawn).by_text(&self.words)
    }

    /// Returns null run `index`.
    pub(super) fn null_run(&self, index: u32) -> NullRun {
        self.run_favouring(index, None)
    }

    /// Returns run `index` in which texts with a word are chosen more often. Without a word it is a null run.
    pub(super) fn run_favouring(&self, index: u32, favour: Option<Favour>) -> NullRun {
        let mut rng = rng(Null::Descent, self.seed, index);
        let mut lists = self.base.clone();
        let mut order = self.new.clone();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.below(last as u64 + 1) as usize);
        }
        let mut next = order.iter().cycle().copied();
        let mut found = HashMap::new();
        let novelty = self.novelty_rate();
        let mut drawn = vec![None; lists.messages()];
        for (mut reads, child) in children(self.run) {
            self.push_given(&mut lists, child);
            drawn.resize(lists.messages(), None);
            reads.retain(|&read| read < lists.messages());
            let is_new = reads.is_empty() || rng.unit() < novelty;
            let new = if is_new { next.next() } else { None };
            let (kind, parent) = if let Some(kind) = new {
                (kind, None)
            } else {
                let slot = match favour {
                    Some(favour) => favour.slot(&reads, &lists, &mut rng),
                    None => rng.below(reads.len() as u64) as usize,
                };
                let kind = self.copied(&reads, slot, &mut lists, &mut found, &mut rng);
                (kind, Some(reads[slot]))
            };
            lists.push(kind);
            drawn.push(parent);
        }
        self.push_given(&mut lists, self.run.messages.len());
        drawn.resize(lists.messages(), None);
        (lists, drawn)
    }

    /// Appends the messages before `end` that are next and that no call sent.
    fn push_given(&self, lists: &mut Lists, end: usize) {
        while lists.messages() < end
            && let Some(kind) = self.given.get(&lists.messages())
        {
            lists.push(*kind);
        }
    }

    /// Returns the kind of a changed copy of text `slot` of `reads`.
    fn copied(
        &self,
        reads: &[usize],
        slot: usize,
        lists: &mut Lists,
        found: &mut HashMap<Box<[u32]>, u32>,
        rng: &mut SampleRng,
    ) -> u32 {
        let kind = lists.kind_of(reads[slot]);
        let text = lists.of_kind(kind);
        let (count, first) = self.donors.near(text.len());
        if count == 0 {
            return kind;
        }
        let Some(edit) = self.donors.edit(first + rng.below(count) as usize) else {
            return kind;
        };
        let others: Vec<&[u32]> = (reads.iter().enumerate())
            .filter(|(place, _)| *place != slot)
            .map(|(_, &read)| lists.of_message(read))
            .collect();
        let changed = edit.apply(text, &others, rng);
        if changed == text {
            return kind;
        }
        if let Some(&kind) = self.known.get(changed.as_slice()) {
            return kind;
        }
        *(found.entry(changed.into())).or_insert_with_key(|list| lists.add(list))
    }
}

/// The factor by which a word changes the chance of texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Favour {
    token: u32,
    weight: f64,
}

impl Favour {
    /// Returns the place of a chosen text among `reads`.
    fn slot(self, reads: &[usize], lists: &Lists, rng: &mut SampleRng) -> usize {
        let weight = |read: &usize| {
            let has_it = lists.of_message(*read).contains(&self.token);
            if has_it { self.weight } else { 1.0 }
        };
        let mut left = rng.unit() * reads.iter().map(weight).sum::<f64>();
        let is_chosen = |read: &usize| {
            left -= weight(read);
            left < 0.0
        };
        let chosen = reads.iter().position(is_chosen);
        chosen.unwrap_or(reads.len() - 1)
    }
}

/// Returns the kind of each list; of equal lists the last one.
fn known(lists: &Lists) -> HashMap<Box<[u32]>, u32> {
    let kinds = 0..lists.kinds() as u32;
    (kinds.map(|kind| (lists.of_kind(kind).into(), kind))).collect()
}

/// Returns the messages after the seeds that no call sent, with their indices.
fn without_call(run: &Transcript) -> impl Iterator<Item = (usize, &Message)> {
    let messages = run.messages.iter().enumerate().skip(run.seeds);
    messages.filter(|(_, message)| message.call.is_none())
}

/// Returns the messages of calls in order, each with the older messages that its call read.
fn children(run: &Transcript) -> impl Iterator<Item = (Vec<usize>, usize)> {
    let all = run.messages.len();
    run.calls.iter().flat_map(move |call| {
        let inside = call.added.iter().filter(move |id| id.index() < all);
        inside.map(|&child| (readable(&call.sampled, child), child.index()))
    })
}

/// Returns the random numbers of run `index` of a model.
pub(super) fn rng(null: Null, seed: u64, index: u32) -> SampleRng {
    let key = Sha256::digest(format!("logosphere/nulls/v2\n{null}\n{seed}\n{index}"));
    SampleRng::keyed(key.into())
}
