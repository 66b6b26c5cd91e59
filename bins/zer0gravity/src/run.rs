//! `zer0gravity run`: one encoding system, the results as a JSON array.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, OutputTarget, Session};
use serde_json::json;
use zer0gravity_engine::plan::{Config, Costs, Plan};
use zer0gravity_engine::prompts::{Nonce, RoleInput, render};
use zer0gravity_engine::store::MemoryStore;
use zer0gravity_engine::{Models, PortLabel};

use crate::ask::{self, Asked};
use crate::cli::{Asking, Repeats, Run};
use crate::run_dir::{self, RunDir};
use crate::selection::{self, Selected};
use crate::summary::Summary;
use crate::{experiment, output};

pub fn run(args: &Run, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let paths: Vec<_> = args.encoding.iter().cloned().collect();
    let encodings = selection::encodings(&paths).map_err(Failure::usage)?;
    if args.show_prompts {
        return show_prompts(&encodings[0].rules, &args.asking, session);
    }
    let Selected { cases, left_out } = selection::texts(
        &args.texts,
        args.asking.skip_bad,
        args.asking.allow_long,
        session,
    )?;
    ask::spare(&args.asking.model, read(args))?;
    let asked = open(&args.asking, session)?;
    let plan = Plan {
        encodings,
        cases,
        config: config(
            &args.asking,
            &args.repeats,
            asked.port.label(),
            &asked.model,
        ),
    };
    // Whether it can be written is found out before anything is spent.
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(read(args).into_iter().chain(args.asking.talks()))?;
    let directory = match &args.run_dir {
        Some(path) => Some(RunDir::begin(path, &plan, left_out, &args.asking.model)?),
        None => None,
    };
    let results = if let Some(directory) = directory {
        asked.keep_ledger(&directory.ledger())?;
        let store = Box::new(directory.calls(session)?);
        let mut report = experiment::perform(&plan, &asked, store, session)?;
        directory.frozen_at().clone_into(&mut report.created_at);
        directory.write_report(&report)?;
        report.results
    } else {
        let store = Box::new(MemoryStore::default());
        experiment::results(&plan, &asked, store, session)?
    };
    output::json(output, &results, session)?;
    if !quiet {
        Summary::of(&plan, args.checks.verbose).print(&results);
    }
    Ok(experiment::exit(&results, left_out, &args.checks))
}

/// The files that a run reads, and those of its directory: neither results nor records may take their place.
fn read(args: &Run) -> Vec<PathBuf> {
    let given = [&args.encoding, &args.texts.dataset, &args.asking.prices];
    let kept = args
        .run_dir
        .iter()
        .flat_map(|folder| run_dir::files(folder));
    given.into_iter().flatten().cloned().chain(kept).collect()
}

/// Whom the flags of `run` and `matrix` name.
pub fn open(asking: &Asking, session: &Session) -> Result<Asked, Failure> {
    ask::panel(&asking.judging.judge_model)?;
    let judges = asking.judging.judge_model.iter();
    let others: Vec<_> = judges
        .map(|model| ("--judge-model", model.as_str()))
        .chain(
            asking
                .decoder_model
                .iter()
                .map(|model| ("--decoder-model", model.as_str())),
        )
        .collect();
    ask::open(
        &asking.model,
        asking.prices.as_deref(),
        &others,
        asking.seed.seed,
        session,
    )
}

/// How a plan is run, by the flags of `run` and `matrix`.
pub fn config(asking: &Asking, repeats: &Repeats, port: PortLabel, model: &str) -> Config {
    let judges = match asking.judging.judge_model.as_slice() {
        [] => vec![model.to_owned()],
        given => given.to_vec(),
    };
    let decoder = asking.decoder_model.as_deref().unwrap_or(model);
    Config {
        models: Models {
            encoder: model.to_owned(),
            decoder: decoder.to_owned(),
            judges,
        },
        prompt_profile: asking.prompt_profile.into(),
        max_output_tokens: asking.max_output_tokens,
        trials: repeats.trials,
        decodes: repeats.decodes,
        judge_samples: repeats.judge_samples,
        execute: asking.execute,
        implementability_once: asking.implementability_once,
        cost: if asking.cost {
            Costs::Counted
        } else {
            Costs::None
        },
        measure_wrapper: asking.measure_wrapper,
        compat_judge_parse: asking.compat_judge_parse,
        compat_token_fallback: asking.compat_token_fallback,
        seed: asking.seed.seed,
        ..Config::new(port, model)
    }
}

/// Prints what each role would be told, with the places of texts named.
fn show_prompts(rules: &str, asking: &Asking, session: &mut Session) -> Result<Exit, Failure> {
    let inputs = [
        (
            "encoder",
            RoleInput::Encode {
                rules,
                text: "<text>",
            },
        ),
        (
            "decoder",
            RoleInput::Decode {
                rules,
                encoded: "<encoded text>",
            },
        ),
        (
            "semanticJudge",
            RoleInput::Semantic {
                original: "<text>",
                decoded: "<decoded text>",
            },
        ),
        (
            "implementabilityJudge",
            RoleInput::Implementability { rules },
        ),
        (
            "executor",
            RoleInput::Execute {
                decoded: "<decoded text>",
            },
        ),
    ];
    let prompts = inputs.map(|(role, input)| {
        let prompt = render(asking.prompt_profile.into(), input, Nonce::default());
        json!({
            "role": role,
            "system": prompt.system,
            "messages": prompt.messages,
            "sha256": prompt.sha256,
        })
    });
    serde_json::to_writer_pretty(&mut session.results, &prompts)?;
    session.results.write_all(b"\n")?;
    Ok(Exit::Done)
}
