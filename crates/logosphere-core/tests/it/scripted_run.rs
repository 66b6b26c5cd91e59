//! Runs made by hand and runs at random, for what is measured on runs.

use logosphere_core::format::Reason;
use logosphere_core::pool::{MessageId, SampleRng};
use logosphere_core::verify::{EndedRound, Message, MindCall};
use logosphere_core::{MindId, Round, Transcript};

/// A run that is written down message by message.
pub struct ScriptedRun(pub Transcript);

impl ScriptedRun {
    /// A run of which `active` messages can be read.
    pub fn new(active: usize, seeds: &[&str]) -> Self {
        let seeds: Vec<Message> = (seeds.iter())
            .map(|text| Message::new(*text, Round(0), None))
            .collect();
        let mut run = Transcript::default();
        (run.minds, run.samples, run.active, run.seed) = (1, 3, active, 42);
        "~init".clone_into(&mut run.init_signature);
        run.seeds = seeds.len();
        run.messages = seeds;
        Self(run)
    }

    /// A round of calls, each with what it read and what it wrote.
    pub fn round<T: AsRef<str>>(mut self, calls: &[(&[u64], &[T])]) -> Self {
        let run = &mut self.0;
        let round = Round(run.rounds.len() as u32 + 1);
        for (mind, (sampled, texts)) in calls.iter().enumerate() {
            let mut added = Vec::new();
            for text in *texts {
                added.push(MessageId::at(run.messages.len()));
                let call = Some(run.calls.len());
                run.messages.push(Message::new(text.as_ref(), round, call));
            }
            let reason = if added.is_empty() {
                Reason::Silence
            } else {
                Reason::Ok
            };
            run.calls
                .push(call(round, mind, ids(sampled), added, reason));
        }
        let pool_size = run.messages.len();
        run.rounds.push(EndedRound::new(round, pool_size));
        run.minds = run.minds.max(calls.len() as u32);
        self
    }

    /// A round of one call that wrote these texts and read nothing.
    pub fn texts(self, texts: &[&str]) -> Self {
        self.round(&[(&[], texts)])
    }
}

/// Messages with these numbers.
pub fn ids(numbers: &[u64]) -> Vec<MessageId> {
    numbers.iter().copied().map(MessageId).collect()
}

/// A call in which nothing is remarkable.
pub fn call(
    round: Round,
    mind: usize,
    sampled: Vec<MessageId>,
    added: Vec<MessageId>,
    reason: Reason,
) -> MindCall {
    let mut call = MindCall::new(round, MindId(mind as u32));
    (call.sampled, call.added, call.reason) = (sampled, added, reason);
    "offline".clone_into(&mut call.model);
    call
}

/// Random numbers of a test.
pub fn random(seed: u8) -> SampleRng {
    SampleRng::keyed([seed; 32])
}

/// A run of short texts of few words, some of them signed, some without a word, some invisible, some equal.
pub fn random_run(seed: u8, rounds: usize) -> Transcript {
    let mut rng = random(seed);
    let words = [
        "Sun", "moon", "fox7", "漢字", "Ärger", "salt", "über", "river", "x",
    ];
    let mut text = || match rng.below(12) {
        0 => "\u{200b} \u{feff}".to_owned(),
        1 => "?! ...".to_owned(),
        2 => "the same again\n\n~ann".to_owned(),
        _ => {
            let length = 1 + rng.below(40);
            let mut word = || words[rng.below(words.len() as u64) as usize];
            let mut text: Vec<&str> = (0..length).map(|_| word()).collect();
            let last = ["\n\n~sig nature", "\n\n~", "!"][rng.below(3) as usize];
            text.push(last);
            text.join(if last == "!" { "," } else { " " })
                .replace(" \n", "\n")
        }
    };
    let seeds: Vec<String> = (0..4).map(|_| text()).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut sizes = random(seed.wrapping_add(100));
    let active = 1 + sizes.below(30) as usize;
    let mut run = ScriptedRun::new(active, &seeds);
    for _ in 0..rounds {
        let texts: Vec<String> = (0..sizes.below(7)).map(|_| text()).collect();
        let all = run.0.messages.len() as u64;
        let read: Vec<u64> = (0..sizes.below(4)).map(|_| sizes.below(all)).collect();
        run = run.round(&[(&read, &texts)]);
    }
    run.0
}
