//! Populations of scripted minds with any seeds, as transcripts, and a mutator that prefers texts.

use async_trait::async_trait;
use logosphere_core::config::{Scheduling, parse_init};
use logosphere_core::experiment::INIT_TEMPLATE;
use logosphere_core::format::ParseMode;
use logosphere_core::journal::{MemJournal, SeedText};
use logosphere_core::pool::{MessageId, SampleRng};
use logosphere_core::verify::Message;
use logosphere_core::{
    CallContext, Mind, MindError, MindInput, MindReply, Orchestrator, RunControl, Settings,
    Transcript,
};

use crate::desk::{self, Slow, Ticking};

/// The line between two messages of a prompt.
const SEPARATOR: &str = "\n---\n";

/// A text without the stamp of seeds.
pub fn unstamped(text: &str) -> &str {
    text.trim_end().trim_end_matches("~init").trim()
}

/// The settings of a population: its mind, and N, M, rounds and seed. Each call reads three messages.
pub fn settings(mind: &str, minds: u32, active: usize, rounds: u32, seed: u64) -> Settings {
    desk::settings(Scheduling::Sequential).with(|settings| {
        settings.mind = Some(mind.to_owned());
        (settings.n_minds, settings.m_active_pool) = (minds, active);
        (settings.max_rounds, settings.seed) = (rounds, seed);
    })
}

/// The built-in seeds, with their stamp.
pub fn built_in() -> Vec<String> {
    let init = parse_init(INIT_TEMPLATE.as_bytes(), ParseMode::Lenient, "~init").unwrap();
    init.stored(true).collect()
}

/// Seeds of 8 to 16 words of 300 that are equally frequent, with a stamp. `marked` of them have the word `moon`.
pub fn sentences(number: u64, marked: u64) -> Vec<String> {
    let sentence = |id: u64| {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&id.to_le_bytes());
        let mut rng = SampleRng::keyed(key);
        let length = 8 + rng.below(9);
        let word = |rng: &mut SampleRng| format!("w{}", rng.below(300));
        let mut words: Vec<String> = (0..length).map(|_| word(&mut rng)).collect();
        // Evenly over all: the first seeds are the first to leave the window.
        if id * marked % number < marked {
            let place = rng.below(length) as usize;
            "moon".clone_into(&mut words[place]);
        }
        words.join(" ") + "\n\n~init"
    };
    (0..number).map(sentence).collect()
}

/// The run of a mind with these seeds.
pub fn run_of(settings: &Settings, seeds: &[String], mind: impl Mind) -> Transcript {
    let mut start = desk::start(settings, &mind);
    let stored = seeds.iter().enumerate();
    start.seeds = stored
        .map(|(id, text)| SeedText::new(MessageId(id as u64), text.clone()))
        .collect();
    start.num_seed_messages = seeds.len() as u64;
    let (journal, clock) = (MemJournal::default(), Ticking::default());
    let mut run = Orchestrator::start(start, mind, journal, clock, RunControl::default()).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    Transcript::read(&run.into_journal().bytes[..]).unwrap()
}

/// The run of the mind of the settings.
pub fn run(settings: &Settings, seeds: &[String]) -> Transcript {
    run_of(settings, seeds, desk::mind(settings))
}

/// A run, and the parent of each message that its mind chose.
pub fn with_parents(settings: &Settings, seeds: &[String]) -> (Transcript, Vec<Option<MessageId>>) {
    let mind = Slow::new(desk::mind(settings).remember_parents(), 1);
    let run = run_of(settings, seeds, &mind);
    let chosen = mind.mind.parents();
    let parent = |message: &Message| {
        let call = &run.calls[message.call?];
        let place = chosen[&format!("{}/{}", call.round, call.mind)]?;
        Some(call.sampled[place])
    };
    let parents = run.messages.iter().map(parent).collect();
    (run, parents)
}

/// A mutator that passes on texts with the word `moon` 1 + s times as often as others.
pub struct BiasedMutator {
    pub s: f64,
    pub p: f64,
    system: usize,
}

impl BiasedMutator {
    pub fn new(s: f64, p: f64, settings: &Settings) -> Self {
        let system = settings.prompt().text().len();
        Self { s, p, system }
    }

    /// The text with words replaced, dropped or doubled, each with a third of the probability p.
    fn changed(&self, text: &str, others: &[&str], rng: &mut SampleRng) -> String {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            if rng.unit() >= self.p {
                words.push(word);
                continue;
            }
            match rng.below(3) {
                0 => words.push(others[rng.below(others.len() as u64) as usize]),
                1 => {}
                _ => words.extend([word, word]),
            }
        }
        if words.is_empty() {
            return text.to_owned();
        }
        words.join(" ")
    }
}

#[async_trait]
impl Mind for BiasedMutator {
    fn label(&self) -> &'static str {
        "biased-mutator"
    }

    async fn respond(&self, input: &MindInput, call: &CallContext) -> Result<MindReply, MindError> {
        let mut rng = SampleRng::keyed(*call.nonce());
        let prompt = input.prompt().text();
        let read = prompt[self.system..].split(SEPARATOR).skip(1);
        let texts: Vec<&str> = read.map(unstamped).collect();
        let weight = |text: &&str| {
            let is_marked = text.split_whitespace().any(|word| word == "moon");
            if is_marked { 1.0 + self.s } else { 1.0 }
        };
        let mut rest = rng.unit() * texts.iter().map(weight).sum::<f64>();
        let mut chosen = texts.len() - 1;
        for (place, text) in texts.iter().enumerate() {
            if rest < weight(text) {
                chosen = place;
                break;
            }
            rest -= weight(text);
        }
        let others = texts.iter().enumerate().filter(|(at, _)| *at != chosen);
        let others: Vec<&str> = others
            .flat_map(|(_, text)| text.split_whitespace())
            .collect();
        let text = self.changed(texts[chosen], &others, &mut rng);
        Ok(MindReply::new(
            format!("---\n{text}\n---\n\n---\n"),
            self.label(),
        ))
    }
}
