//! The estimate of a run before its next call: calls, tokens, money and time.

use serde::Serialize;

use crate::config::{Scheduling, Settings};
use crate::format::{Reason, SEPARATOR};
use crate::verify::{MindCall, Transcript};

/// The average answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerProfile {
    /// Tokens per answer.
    pub tokens: f64,
    /// Messages per answer.
    pub messages: f64,
    /// Bytes per message.
    pub message_bytes: f64,
    /// Bytes per token of a prompt.
    pub bytes_per_token: f64,
    /// Milliseconds per call: a lower and an upper value.
    pub call_ms: [f64; 2],
    /// US dollars per token of prompts and answers together, as charged; `None` if no cost is known.
    pub usd_per_token: Option<f64>,
    /// Whether the values were measured on calls of the run. Otherwise they are assumptions.
    pub measured: bool,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a price of a prompt and one of an answer"
)]
pub struct TokenPrices {
    /// The price of prompt tokens.
    pub prompt: f64,
    /// The price of answer tokens.
    pub answer: f64,
}

/// The consumption of calls.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Consumption {
    /// The number of calls.
    pub calls: u64,
    /// The tokens of the prompts.
    pub prompt_tokens: u64,
    /// The tokens of the answers.
    pub completion_tokens: u64,
    /// The cost in US dollars; `None` if no price is known.
    pub usd: Option<f64>,
}

/// The estimate of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The consumption of the whole run: the part that is done and the part that is left.
    #[serde(flatten)]
    pub whole: Consumption,
    /// The consumption of the calls in the journal.
    pub done: Consumption,
    /// The consumption of the calls that are left.
    pub left: Consumption,
    /// The consumption of the whole run if every answer from now on is one message of the greatest length.
    pub longest: Consumption,
    /// Seconds that the calls that are left take: a lower and an upper value.
    pub wall_seconds: [f64; 2],
    /// The tokens of the longest expected prompt.
    pub longest_prompt_tokens: u64,
    /// The average answer that the estimate is computed from.
    pub answers: AnswerProfile,
}

/// Assumed share of a model's answer that is messages.
const SAID: f64 = 0.7;
/// Assumed number of messages in a model's answer.
const MESSAGES: f64 = 2.0;
/// Assumed bytes per token of a model.
const BYTES_PER_TOKEN: f64 = 4.0;
/// Assumed tokens of a model's answer, unless the token limit is low.
const TOKENS: u32 = 400;
/// The bytes that a scripted mind writes around the message that it passes on.
const AROUND: f64 = 28.0;
/// The bytes between a seed message and its signature.
const STAMP_GAP: usize = 2;
/// The bytes that a scripted mind counts as a token.
const PROGRAM_BYTES_PER_TOKEN: f64 = 3.0;
/// The largest number of terms of a sum; longer runs are sampled at intervals.
const STEPS: u64 = 1 << 20;

impl AnswerProfile {
    /// The number of rounds after which measured averages replace assumptions.
    pub const ENOUGH_ROUNDS: usize = 5;

    /// Returns the assumptions for a model with this token limit.
    ///
    /// The answers have `tokens` tokens, by default a fifth of the limit and at most 400.
    pub fn of_model(limit: u32, tokens: Option<u32>) -> Self {
        let tokens = f64::from(tokens.unwrap_or((limit / 5).clamp(1, TOKENS)).min(limit));
        Self {
            tokens,
            messages: MESSAGES,
            message_bytes: tokens * BYTES_PER_TOKEN * SAID / MESSAGES,
            bytes_per_token: BYTES_PER_TOKEN,
            call_ms: [400.0 + tokens * 8.0, 2000.0 + tokens * 40.0],
            usd_per_token: None,
            measured: false,
        }
    }

    /// Returns the assumptions for a scripted mind that passes on one of its texts without the signature.
    ///
    /// `seeds` are the lengths of the seed messages in bytes, as the pool stores them.
    pub fn of_program(settings: &Settings, seeds: &[usize]) -> Self {
        let stored = mean(seeds.iter().map(|bytes| *bytes as f64)).unwrap_or_default();
        let stamp = if settings.stamp_seeds {
            STAMP_GAP + settings.init_signature.len()
        } else {
            0
        };
        let message_bytes = (stored - stamp as f64).max(0.0);
        Self {
            tokens: (message_bytes + AROUND) / PROGRAM_BYTES_PER_TOKEN,
            messages: 1.0,
            message_bytes,
            bytes_per_token: PROGRAM_BYTES_PER_TOKEN,
            call_ms: [0.1, 20.0],
            usd_per_token: Some(0.0),
            measured: false,
        }
    }

    /// Returns the averages of the calls of a run.
    ///
    /// The result is `None` if no call was answered, or if fewer than [`AnswerProfile::ENOUGH_ROUNDS`] rounds have
    /// ended.
    pub fn measured(settings: &Settings, run: &Transcript) -> Option<Self> {
        if run.rounds.len() < Self::ENOUGH_ROUNDS {
            return None;
        }
        let answered = |call: &&MindCall| call.reason != Reason::CallFailed;
        let done = done(run);
        if done.prompt_tokens == 0 || !run.calls.iter().any(|call| answered(&call)) {
            return None;
        }
        let sent = run.messages.iter().skip(run.seeds);
        let bytes: usize = run
            .calls
            .iter()
            .map(|call| prompt_bytes(settings, run, call))
            .sum();
        let mut latencies: Vec<u64> = (run.calls.iter().filter(answered))
            .map(|call| call.latency_ms)
            .collect();
        latencies.sort_unstable();
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64;
        let tokens = (done.prompt_tokens + done.completion_tokens) as f64;
        let calls = done.calls as f64;
        Some(Self {
            tokens: done.completion_tokens as f64 / calls,
            messages: sent.len() as f64 / calls,
            message_bytes: mean(sent.map(|message| message.text.len() as f64)).unwrap_or_default(),
            bytes_per_token: bytes as f64 / done.prompt_tokens as f64,
            call_ms: [at(0.25), at(0.9)],
            usd_per_token: done.usd.map(|usd| usd / tokens),
            measured: true,
        })
    }
}

impl Estimate {
    /// Estimates a run by the answers that it has measured, otherwise by the assumptions for its minds.
    ///
    /// `seeds` and `run` are those of [`Estimate::of`]. `answer_tokens` is the assumed length of a model's answer. `price`
    /// returns the prices for prompts of up to this number of tokens; scripted minds are free.
    pub fn priced(
        settings: &Settings,
        seeds: &[usize],
        run: Option<&Transcript>,
        answer_tokens: Option<u32>,
        price: impl FnOnce(u64) -> Option<TokenPrices>,
    ) -> Self {
        let offline = settings.is_offline();
        let measured = run.and_then(|run| AnswerProfile::measured(settings, run));
        let answers = measured.unwrap_or_else(|| {
            if offline {
                AnswerProfile::of_program(settings, seeds)
            } else {
                AnswerProfile::of_model(settings.token_limit, answer_tokens)
            }
        });
        let estimate = |prices| Self::of(settings, seeds, run, answers, prices);
        if offline {
            return estimate(Some(TokenPrices {
                prompt: 0.0,
                answer: 0.0,
            }));
        }
        let unpriced = estimate(None);
        match price(unpriced.longest_prompt_tokens) {
            None => unpriced,
            prices => estimate(prices),
        }
    }

    /// Estimates a run. `seeds` are the lengths of the seed messages in bytes, as the pool stores them.
    ///
    /// With `run`, the part of the run that is done, the estimate continues from there. Rules that end a run early are
    /// ignored.
    pub fn of(
        settings: &Settings,
        seeds: &[usize],
        run: Option<&Transcript>,
        answers: AnswerProfile,
        prices: Option<TokenPrices>,
    ) -> Self {
        let done = run.map(done).unwrap_or_default();
        let pool: Vec<usize> = match run {
            Some(run) => run
                .messages
                .iter()
                .map(|message| message.text.len())
                .collect(),
            None => seeds.to_vec(),
        };
        let calls = u64::from(settings.n_minds) * u64::from(settings.max_rounds);
        let rest = RemainingCalls {
            settings,
            tail: PoolTail::new(&pool, settings.m_active_pool),
            calls: done.calls..calls.max(done.calls),
        };
        let (left, longest_prompt) = rest.amounts(&answers, prices);
        let most = AnswerProfile {
            tokens: f64::from(settings.token_limit),
            messages: 1.0,
            message_bytes: f64::from(settings.token_limit) * answers.bytes_per_token,
            ..answers
        };
        Self {
            whole: done.and(left, prices),
            longest: done.and(rest.amounts(&most, prices).0, prices),
            done,
            left,
            wall_seconds: answers
                .call_ms
                .map(|ms| rest.calls_in_a_row() * ms / 1000.0),
            longest_prompt_tokens: longest_prompt,
            answers,
        }
    }
}

impl Consumption {
    /// Returns the sum. A cost that was not reported is computed from the prices.
    fn and(self, more: Self, prices: Option<TokenPrices>) -> Self {
        let own = match self.calls {
            0 => Some(0.0),
            _ => self.usd.or(prices.map(|prices| self.at(prices))),
        };
        Self {
            calls: self.calls + more.calls,
            prompt_tokens: self.prompt_tokens.saturating_add(more.prompt_tokens),
            completion_tokens: self
                .completion_tokens
                .saturating_add(more.completion_tokens),
            usd: own.zip(more.usd).map(|(own, more)| own + more),
        }
    }

    fn at(&self, prices: TokenPrices) -> f64 {
        (self.prompt_tokens as f64 * prices.prompt + self.completion_tokens as f64 * prices.answer)
            / 1e6
    }
}

/// Returns the consumption of a run so far.
fn done(run: &Transcript) -> Consumption {
    // What a server says of its tokens can be any number.
    let tokens = |part: usize| {
        let tokens = run.calls.iter().map(|call| call.tokens[part]);
        tokens.fold(0, u64::saturating_add)
    };
    let costs = run.calls.iter().filter_map(|call| call.cost_usd);
    Consumption {
        calls: run.calls.len() as u64,
        prompt_tokens: tokens(0),
        completion_tokens: tokens(1),
        usd: costs.clone().next().map(|_| costs.sum()),
    }
}

fn prompt_bytes(settings: &Settings, run: &Transcript, call: &MindCall) -> usize {
    let texts = (call.sampled.iter()).filter_map(|id| run.messages.get(id.index()));
    settings.system_prompt.len()
        + texts
            .map(|message| message.text.len() + SEPARATOR.len())
            .sum::<usize>()
}

/// The newest messages of a pool, by their lengths.
struct PoolTail {
    /// The size of the active pool.
    active: usize,
    /// The bytes of the newest `n` messages at index `n`, from 0 on.
    newest: Vec<f64>,
}

impl PoolTail {
    fn new(pool: &[usize], active: usize) -> Self {
        let mut newest = vec![0.0];
        let mut sum = 0.0;
        for bytes in pool.iter().rev().take(active) {
            sum += *bytes as f64;
            newest.push(sum);
        }
        Self { active, newest }
    }

    /// Returns the size of the active pool and the mean length of its messages after `more` messages of `bytes` bytes.
    fn after(&self, more: f64, bytes: f64) -> (f64, f64) {
        let active = self.active as f64;
        let more = more.min(active);
        let old = ((self.newest.len() - 1) as f64).min(active - more);
        let whole = old as usize;
        let next = self.newest.get(whole + 1).copied();
        let sum = self.newest[whole];
        let part = next.map_or(0.0, |next| (next - sum) * (old - whole as f64));
        let seen = old + more;
        let length = if seen > 0.0 {
            (sum + part + more * bytes) / seen
        } else {
            0.0
        };
        (seen, length)
    }
}

/// The calls of a run that have not been made yet.
struct RemainingCalls<'a> {
    settings: &'a Settings,
    tail: PoolTail,
    /// The range of the calls, counted from 0 over the whole run.
    calls: std::ops::Range<u64>,
}

impl RemainingCalls<'_> {
    /// Returns the consumption of the calls, and the tokens of the longest prompt.
    fn amounts(&self, answers: &AnswerProfile, prices: Option<TokenPrices>) -> (Consumption, u64) {
        let calls = self.calls.end - self.calls.start;
        let step = calls.div_ceil(STEPS).max(1);
        let (mut tokens, mut longest) = (0.0, 0.0_f64);
        let mut first = self.calls.start;
        while first < self.calls.end {
            let here = step.min(self.calls.end - first);
            let prompt = self.prompt_tokens(first + here / 2, answers);
            tokens += prompt * here as f64;
            longest = longest.max(prompt);
            first += here;
        }
        let mut amounts = Consumption {
            calls,
            prompt_tokens: tokens.round() as u64,
            completion_tokens: (answers.tokens * calls as f64).round() as u64,
            usd: None,
        };
        let total = amounts
            .prompt_tokens
            .saturating_add(amounts.completion_tokens);
        amounts.usd = (prices.map(|prices| amounts.at(prices)))
            .or(answers.usd_per_token.map(|usd| usd * total as f64));
        (amounts, longest.ceil() as u64)
    }

    fn prompt_tokens(&self, call: u64, answers: &AnswerProfile) -> f64 {
        let minds = u64::from(self.settings.n_minds.max(1));
        let read = match self.settings.scheduling {
            Scheduling::Sequential => call,
            Scheduling::Snapshot => call - call % minds,
        };
        let more = read.saturating_sub(self.calls.start) as f64 * answers.messages;
        let (seen, length) = self.tail.after(more, answers.message_bytes);
        let sampled = seen.min(self.settings.k_samples as f64);
        let separator = SEPARATOR.len() as f64;
        let system = self.settings.system_prompt.len() as f64;
        (system + sampled * (length + separator)) / answers.bytes_per_token
    }

    /// Returns the number of calls that follow one another without overlap.
    fn calls_in_a_row(&self) -> f64 {
        let calls = (self.calls.end - self.calls.start) as f64;
        match self.settings.scheduling {
            Scheduling::Sequential => calls,
            Scheduling::Snapshot => {
                let minds = f64::from(self.settings.n_minds.max(1));
                let waves = (minds / self.settings.concurrency.max(1) as f64).ceil();
                (calls / minds).ceil() * waves
            }
        }
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    (count > 0).then(|| values.sum::<f64>() / count as f64)
}
