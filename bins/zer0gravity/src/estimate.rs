//! `zer0gravity estimate`: how many calls a run would make and what they can cost at most, before anything is sent.

use std::collections::HashSet;

use bin_support::{Exit, Failure, Output, ProviderName, Session};
use llm_client::Usd;
use llm_client::models::Model;
use serde::Serialize;
use zer0gravity_engine::plan::{Config, Costs, Encoding, Plan, PlannedCase};
use zer0gravity_engine::prompts::{
    MAX_EXECUTOR_TOKENS, MAX_JUDGE_TOKENS, Nonce, Role, RoleInput, render,
};
use zer0gravity_engine::{PortLabel, Tokenizers, estimated_message_tokens};

use crate::args::{Asking, Estimate};
use crate::error::Error;
use crate::selection::Selected;
use crate::{ask, output, selection, setup};

/// What a run would take. Calls that turn out to ask the same are made once, and judges are asked again for what cannot be
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
    prices_of: String,
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
    let port = PortLabel {
        provider: provider.to_string(),
        host: String::new(),
        offline: false,
    };
    let config = setup::config(asking, &args.repeats, port, &model);
    let table = ask::table(asking.prices.as_deref())?;
    let known = |id: &str| table.find(provider.as_str(), id);
    let bill = Bill::of(&encodings, &cases, &config);
    let estimated = Estimated {
        schema_version: 1,
        experiments: bill.experiments,
        prompt_tokens_at_most: bill.sum(|charge| charge.prompt),
        reply_tokens_at_most: bill.sum(|charge| charge.reply),
        usd_at_most: bill.usd_at_most(known).map(|usd| usd.to_string()),
        calls: bill.calls,
        model,
        prices_of: table.read_on().to_string(),
    };
    output::json(Output::Stdout, &estimated, session)?;
    Ok(Exit::Done)
}

/// Refuses a cap that not even the first calls fit under, those that encode.
pub fn check_cap(plan: &Plan, asking: &Asking) -> Result<(), Failure> {
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
    let Some(model) = table.find(&config.port.provider, encoder) else {
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
}

/// All calls of a run.
struct Bill {
    experiments: u64,
    calls: Calls,
    charges: Vec<Charge>,
}

impl Bill {
    fn of(encodings: &[Encoding], cases: &[PlannedCase], config: &Config) -> Self {
        let counter = Tokenizers::default();
        let tokens = |input: RoleInput<'_>| {
            let prompt = render(config.prompt_profile, input, Nonce::default());
            let turns: String = prompt
                .messages
                .into_iter()
                .map(|turn| turn.content)
                .collect();
            estimated_message_tokens(&(prompt.system + &turns), &counter)
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
        bill.calls.count += u64::from(config.measure_wrapper);
        for Encoding { rules, .. } in encodings {
            for PlannedCase { case, .. } in cases {
                let text = case.text.as_str();
                bill.experiments += per_text;
                bill.calls.count += trials;
                let encode = tokens(RoleInput::Encode { rules, text });
                bill.calls.encode += bill.charge(
                    Role::Encoder,
                    &config.models.encoder,
                    trials,
                    encode,
                    longest,
                );
                let decode = tokens(RoleInput::Decode { rules, encoded: "" }) + longest;
                bill.calls.decode += bill.charge(
                    Role::Decoder,
                    &config.models.decoder,
                    per_text,
                    decode,
                    longest,
                );
                let compared = tokens(RoleInput::Semantic {
                    original: text,
                    decoded: "",
                }) + longest;
                for judge in &config.models.judges {
                    bill.calls.judge_semantic += bill.charge(
                        Role::SemanticJudge,
                        judge,
                        per_text * samples,
                        compared,
                        u64::from(MAX_JUDGE_TOKENS),
                    );
                }
                if config.execute && case.expected_output.is_some() {
                    let carried = tokens(RoleInput::Execute { decoded: "" }) + longest;
                    bill.calls.execute += bill.charge(
                        Role::Executor,
                        &config.models.decoder,
                        per_text,
                        carried,
                        u64::from(MAX_EXECUTOR_TOKENS),
                    );
                }
            }
            let judged = tokens(RoleInput::Implementability { rules });
            let times = if config.implementability_once {
                1
            } else {
                cases.len() as u64 * per_text
            };
            for judge in &config.models.judges {
                bill.calls.judge_implementability += bill.charge(
                    Role::ImplementabilityJudge,
                    judge,
                    times * samples,
                    judged,
                    u64::from(MAX_JUDGE_TOKENS),
                );
            }
        }
        let calls = &mut bill.calls;
        calls.total = calls.count
            + calls.encode
            + calls.decode
            + calls.judge_semantic
            + calls.judge_implementability
            + calls.execute;
        bill
    }

    /// Notes calls; gives their number.
    fn charge(&mut self, role: Role, model: &str, calls: u64, prompt: u64, reply: u64) -> u64 {
        self.charges.push(Charge {
            role,
            model: model.to_owned(),
            calls,
            prompt,
            reply,
        });
        calls
    }

    fn sum(&self, tokens: impl Fn(&Charge) -> u64) -> u64 {
        self.charges
            .iter()
            .map(|charge| charge.calls * tokens(charge))
            .sum()
    }

    /// None if a price is not known.
    fn usd_at_most<'a>(&self, known: impl Fn(&str) -> Option<&'a Model>) -> Option<Usd> {
        self.charges.iter().try_fold(Usd::ZERO, |sum, charge| {
            let one = known(&charge.model)?.dearest(charge.prompt, charge.reply)?;
            let all = one.0.checked_mul(i64::try_from(charge.calls).ok()?)?;
            sum.checked_add(Usd(all))
        })
    }
}
