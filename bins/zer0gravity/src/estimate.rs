//! `zer0gravity estimate`: how many calls a run would make and what they can cost at most, before anything is sent.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use bin_support::{Exit, Failure, Output, ProviderName, Session, printable};
use llm_client::Usd;
use llm_client::models::Model;
use serde::Serialize;
use zer0gravity_engine::model::{ModelLabel, ModelReply};
use zer0gravity_engine::plan::{Config, Costs, Plan, PlannedCase, RuleSet};
use zer0gravity_engine::prompts::{
    MAX_EXECUTOR_TOKENS, MAX_JUDGE_TOKENS, MAX_MEASURE_TOKENS, Nonce, Role, RoleInput, render,
};
use zer0gravity_engine::result::Models;
use zer0gravity_engine::run::RunDirectory;
use zer0gravity_engine::store::{CallRecord, StoredAnswer};
use zer0gravity_engine::{TokenCounter, Tokenizers};

use crate::args::{Estimate, RoleFlags};
use crate::error::Error;
use crate::selection::Selected;
use crate::{ask, output, selection, setup};

/// The calls and the cost of a run. Equal calls are made once, and judges are asked again for replies that cannot be
/// read: the first makes it less, the second more.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Estimated {
    #[serde(rename = "schema_version")]
    schema_version: u32,
    model: String,
    experiments: u64,
    calls: Calls,
    /// By a tokenizer that is not the model's, with every encoding and decoding at its longest.
    prompt_tokens_at_most: u64,
    /// Every reply at its longest.
    reply_tokens_at_most: u64,
    /// Both at the model's prices; null if they are not known.
    usd_at_most: Option<String>,
    /// With encodings and decodings as long as their texts, and 120 tokens of each judge; or with replies as in another run.
    prompt_tokens_expected: u64,
    reply_tokens_expected: u64,
    usd_expected: Option<String>,
    /// The run whose replies tell how long replies will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    like: Option<String>,
    prices_of: String,
}

impl Estimated {
    fn text(&self) -> String {
        let unknown = || format!("price of {} not known", self.model);
        let calls = &self.calls;
        let expected = match &self.like {
            None => {
                format!("if a text stays as long as it is and a judge writes {JUDGE_REPLY}")
            }
            Some(run) => format!("if replies are as long as in {}", printable(run)),
        };
        format!(
            "{} experiments, {} calls: {} counts, {} encodings, {} decodings, {} judgements, {} executions\n\
             expected: {} ({} tokens of prompts, {} of replies, {expected})\n\
             at most:  {} ({} tokens of prompts, {} of replies)\n\
             model: {}, prices of {}; nothing was sent\n",
            self.experiments,
            calls.total,
            calls.count,
            calls.encode,
            calls.decode,
            calls.judge_semantic + calls.judge_implementability,
            calls.execute,
            self.usd_expected.clone().unwrap_or_else(unknown),
            self.prompt_tokens_expected,
            self.reply_tokens_expected,
            self.usd_at_most.clone().unwrap_or_else(unknown),
            self.prompt_tokens_at_most,
            self.reply_tokens_at_most,
            self.model,
            self.prices_of,
        )
    }
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Calls {
    count: u64,
    encode: u64,
    decode: u64,
    judge_semantic: u64,
    judge_implementability: u64,
    execute: u64,
    /// That measure prompts, of a provider other than Anthropic, which may not count tokens.
    measure: u64,
    total: u64,
}

pub fn estimate(args: &Estimate, session: &mut Session) -> Result<Exit, Failure> {
    let encodings = selection::encodings(&args.encoding).map_err(Failure::usage)?;
    let asking = &args.asking;
    let Selected { cases, .. } =
        selection::texts(&args.texts, asking.skip_bad, asking.allow_long, session)?;
    let provider = asking.model.provider.unwrap_or(ProviderName::Anthropic);
    let model = asking
        .model
        .model
        .clone()
        .unwrap_or_else(|| ask::DEFAULT_MODEL.to_owned());
    let label = ModelLabel::new(provider.to_string(), "");
    let config = setup::config(asking, &args.repeats, label, &model);
    let table = ask::table(asking.prices.as_deref())?;
    let known = |id: &str| table.find(provider.as_str(), id);
    let mut bill = Bill::of(&encodings, &cases, &config);
    if let Some(run) = &args.like {
        bill.expect(&reply_lengths(run).map_err(Failure::usage)?);
    }
    let estimated = Estimated {
        schema_version: 1,
        experiments: bill.experiments,
        prompt_tokens_at_most: bill.sum(|charge| charge.prompt),
        reply_tokens_at_most: bill.sum(|charge| charge.reply),
        usd_at_most: bill.usd_at_most(known).map(|usd| usd.to_string()),
        prompt_tokens_expected: bill.sum(|charge| charge.expected.prompt),
        reply_tokens_expected: bill.sum(|charge| charge.expected.reply),
        usd_expected: bill.usd_expected(known).map(|usd| usd.to_string()),
        calls: bill.calls,
        like: args.like.as_ref().map(|run| run.display().to_string()),
        model,
        prices_of: table.read_on().to_string(),
    };
    if args.json {
        output::json(Output::Stdout, &estimated, session)?;
    } else {
        session.results.write_all(estimated.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The mean tokens of replies by role, as the calls of a run report them.
fn reply_lengths(run: &Path) -> Result<Vec<(Role, u64)>, Error> {
    let path = RunDirectory::calls_in(run);
    let mut sums: Vec<(Role, u64, u64)> = Vec::new();
    let bytes = selection::read(&path)?;
    // A last line without its end is of a run that is not finished.
    let whole = bytes.split_inclusive(|byte| *byte == b'\n');
    for line in whole.filter(|line| line.ends_with(b"\n")) {
        let record: CallRecord = serde_json::from_slice(line).map_err(|error| Error::Form {
            path: path.clone(),
            what: "calls",
            message: error.to_string(),
        })?;
        let StoredAnswer::Reply(ModelReply {
            usage: Some(usage), ..
        }) = record.answer
        else {
            continue;
        };
        let Some(role) = record.role else { continue };
        match sums.iter_mut().find(|(known, ..)| *known == role) {
            Some((_, tokens, replies)) => {
                *tokens = tokens.saturating_add(usage.output);
                *replies += 1;
            }
            None => sums.push((role, usage.output, 1)),
        }
    }
    if sums.is_empty() {
        return Err(Error::NoReplies { path });
    }
    let means = sums.into_iter();
    Ok(means
        .map(|(role, tokens, replies)| (role, tokens.div_ceil(replies)))
        .collect())
}

/// Refuses a cap that not even the first calls fit under, those that encode.
pub fn check_cap(plan: &Plan, asking: &RoleFlags) -> Result<(), Failure> {
    let Some(cap) = asking
        .model
        .max_usd
        .filter(|_| asking.model.replay.is_none())
    else {
        return Ok(());
    };
    let config = &plan.config;
    let table = ask::table(asking.prices.as_deref())?;
    let encoder = config.models.encoder.as_str();
    let Some(model) = table.find(&config.label.provider, encoder) else {
        return Ok(());
    };
    let bill = Bill::of(&plan.encodings, &plan.cases, config);
    let encodings = (bill.charges.iter()).filter(|charge| charge.role == Role::Encoder);
    let most = encodings.filter_map(|charge| model.dearest(charge.prompt, charge.reply));
    match most.max() {
        Some(most) if most > cap => Err(Failure::usage(Error::CapTooLow {
            cap,
            model: encoder.to_owned(),
            most,
        })),
        _ => Ok(()),
    }
}

/// Calls that cost alike.
struct Charge {
    role: Role,
    model: String,
    calls: u64,
    /// Tokens of one prompt.
    prompt: u64,
    /// Tokens of the longest reply.
    reply: u64,
    expected: Expected,
}

/// Tokens that a call will probably take.
#[derive(Debug, Clone, Copy)]
struct Expected {
    prompt: u64,
    reply: u64,
}

/// Tokens of a judge's usual reply.
const JUDGE_REPLY: u64 = 120;

/// All calls of a run.
struct Bill {
    experiments: u64,
    calls: Calls,
    charges: Vec<Charge>,
}

impl Bill {
    fn of(encodings: &[RuleSet], cases: &[PlannedCase], config: &Config) -> Self {
        let counter = Tokenizers::default();
        let local = TokenCounter::of(&config.models.encoder);
        let tokens = |input: RoleInput<'_>| {
            let prompt = render(config.prompt_profile, input, Nonce::default());
            let turns: String = prompt
                .messages
                .into_iter()
                .map(|turn| turn.content)
                .collect();
            local.message_tokens(&(prompt.system + &turns), &counter)
        };
        let [trials, decodes, samples] =
            [config.trials, config.decodes, config.judge_samples].map(u64::from);
        let longest = u64::from(config.max_output_tokens);
        let per_text = trials * decodes;
        let texts: HashSet<&str> = cases.iter().map(|one| one.case.text.as_str()).collect();
        let mut bill = Self {
            experiments: 0,
            calls: Calls {
                count: texts.len() as u64,
                ..Calls::default()
            },
            charges: Vec::new(),
        };
        if config.cost == Costs::Counted {
            bill.calls.count += encodings.len() as u64;
        }
        bill.calls.count += u64::from(config.measure_overhead);
        let judge_reply = u64::from(MAX_JUDGE_TOKENS);
        let Models {
            encoder,
            decoder,
            judges,
            ..
        } = &config.models;
        for RuleSet { rules, .. } in encodings {
            for PlannedCase { case, .. } in cases {
                let text = case.text.as_str();
                let length = local.message_tokens(text, &counter);
                // A prompt without the reply that it will hold, and the longest and the expected length of that reply.
                let call =
                    |role, model: &String, calls, prompt: u64, holds: u64, reply: [u64; 2]| {
                        Charge {
                            role,
                            model: model.clone(),
                            calls,
                            prompt: prompt + longest * holds,
                            reply: reply[0],
                            expected: Expected {
                                prompt: prompt + length * holds,
                                reply: reply[1],
                            },
                        }
                    };
                bill.experiments += per_text;
                bill.calls.count += trials;
                let prompt = tokens(RoleInput::Encode { rules, text });
                let written = [longest, length];
                bill.calls.encode +=
                    bill.charge(call(Role::Encoder, encoder, trials, prompt, 0, written));
                let prompt = tokens(RoleInput::Decode { rules, encoded: "" });
                bill.calls.decode +=
                    bill.charge(call(Role::Decoder, decoder, per_text, prompt, 1, written));
                let prompt = tokens(RoleInput::Semantic {
                    original: text,
                    decoded: "",
                });
                let judged = [judge_reply, JUDGE_REPLY];
                for judge in judges {
                    let (role, calls) = (Role::SemanticJudge, per_text * samples);
                    bill.calls.judge_semantic +=
                        bill.charge(call(role, judge, calls, prompt, 1, judged));
                }
                if config.execute && case.expected_output.is_some() {
                    let prompt = tokens(RoleInput::Execute { decoded: "" });
                    let carried = [u64::from(MAX_EXECUTOR_TOKENS), JUDGE_REPLY];
                    bill.calls.execute +=
                        bill.charge(call(Role::Executor, decoder, per_text, prompt, 1, carried));
                }
            }
            bill.measure(config, rules, tokens);
            let prompt = tokens(RoleInput::Implementability { rules });
            let times = if config.implementability_once {
                1
            } else {
                cases.len() as u64 * per_text
            };
            bill.judge_rules(judges, times * samples, prompt);
        }
        let calls = &mut bill.calls;
        calls.total = calls.count
            + calls.encode
            + calls.decode
            + calls.judge_semantic
            + calls.judge_implementability
            + calls.execute
            + calls.measure;
        bill
    }

    /// Expects other lengths of replies; of roles that are not named, those of before.
    fn expect(&mut self, lengths: &[(Role, u64)]) {
        for charge in &mut self.charges {
            let length = lengths.iter().find(|(role, _)| *role == charge.role);
            if let Some((_, tokens)) = length {
                charge.expected.reply = *tokens;
            }
        }
    }

    /// Notes the two calls that measure the prompts of one set of rules, where the provider may not count tokens.
    fn measure(&mut self, config: &Config, rules: &str, tokens: impl Fn(RoleInput<'_>) -> u64) {
        let counts = config.label.provider == ProviderName::Anthropic.as_str();
        if counts || config.no_measure_tokens {
            return;
        }
        let (text, encoded) = ("a", "a");
        let inputs = [
            (Role::MeasureEncoder, RoleInput::Encode { rules, text }),
            (Role::MeasureDecoder, RoleInput::Decode { rules, encoded }),
        ];
        for (role, input) in inputs {
            let (prompt, reply) = (tokens(input), u64::from(MAX_MEASURE_TOKENS));
            self.calls.measure += self.charge(Charge {
                role,
                model: config.models.encoder.clone(),
                calls: 1,
                prompt,
                reply,
                expected: Expected { prompt, reply },
            });
        }
    }

    /// Notes what judges say of rules.
    fn judge_rules(&mut self, judges: &[String], calls: u64, prompt: u64) {
        for judge in judges {
            self.calls.judge_implementability += self.charge(Charge {
                role: Role::ImplementabilityJudge,
                model: judge.clone(),
                calls,
                prompt,
                reply: u64::from(MAX_JUDGE_TOKENS),
                expected: Expected {
                    prompt,
                    reply: JUDGE_REPLY,
                },
            });
        }
    }

    /// Notes calls; gives their number.
    fn charge(&mut self, charge: Charge) -> u64 {
        let calls = charge.calls;
        self.charges.push(charge);
        calls
    }

    fn sum(&self, tokens: impl Fn(&Charge) -> u64) -> u64 {
        self.charges
            .iter()
            .map(|charge| charge.calls * tokens(charge))
            .sum()
    }

    /// Returns `None` if a price is not known.
    fn usd_at_most<'a>(&self, known: impl Fn(&str) -> Option<&'a Model>) -> Option<Usd> {
        self.usd(|charge| known(&charge.model)?.dearest(charge.prompt, charge.reply))
    }

    /// Returns `None` if a price is not known.
    fn usd_expected<'a>(&self, known: impl Fn(&str) -> Option<&'a Model>) -> Option<Usd> {
        self.usd(|charge| {
            let Expected { prompt, reply } = charge.expected;
            let price = known(&charge.model)?.price(prompt)?;
            // Prices are those of a million tokens.
            let of = |tokens: u64, price: Usd| price.0.checked_mul(i64::try_from(tokens).ok()?);
            let sum = of(prompt, price.input)?.checked_add(of(reply, price.output)?)?;
            Some(Usd(sum / 1_000_000))
        })
    }

    fn usd(&self, one: impl Fn(&Charge) -> Option<Usd>) -> Option<Usd> {
        self.charges.iter().try_fold(Usd::ZERO, |sum, charge| {
            let all = one(charge)?
                .0
                .checked_mul(i64::try_from(charge.calls).ok()?)?;
            sum.checked_add(Usd(all))
        })
    }
}
