//! `zer0gravity run`: one encoding system, the results as a JSON array.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, OutputTarget, Session};
use serde_json::json;
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::{Nonce, RoleInput, render};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};

use crate::args::{RoleFlags, Run};
use crate::kept::{self, Continued};
use crate::output::Show;
use crate::selection::{self, Selected};
use crate::summary::Summary;
use crate::{ask, experiment, output, setup};

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
    ask::ensure_not_input(&args.asking.model, read(args))?;
    let asked = setup::asked(&args.asking, args.run_dir.as_deref(), session)?;
    let plan = Plan::new(
        encodings,
        cases,
        setup::config(
            &args.asking,
            &args.repeats,
            asked.model_client.label(),
            &asked.model,
        ),
    );
    setup::check(&plan, &args.asking, &args.checks)?;
    // Whether it can be written is found out before anything is spent.
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(read(args).into_iter().chain(args.asking.talks()))?;
    let show = Show::of(args.json, args.output.as_ref(), session);
    let summary = Summary::of(&plan, args.checks.verbose);
    let Some(path) = &args.run_dir else {
        let results = experiment::results(&plan, &asked, session)?;
        output::results(show, output, &results, &summary, quiet, session)?;
        let checks = &args.checks;
        return Ok(experiment::conclude(
            &results, left_out, checks, None, session,
        ));
    };
    let directory = setup::begun(path, &plan, left_out, &args.asking.model)?;
    let report = kept::resume(&directory, &asked, ChangedCalls::Refuse, session)?;
    output::results(show, output, &report.results, &summary, quiet, session)?;
    let (command, checks) = (Continued::Run, &args.checks);
    Ok(kept::conclude(
        command, &directory, &report, checks, true, session,
    ))
}

/// The files that a run reads, and those of its directory: neither results nor records may take their place.
fn read(args: &Run) -> Vec<PathBuf> {
    let given = args.encoding.iter().chain(&args.asking.prices).cloned();
    let given = given.chain(selection::files(&args.texts));
    let kept = args
        .run_dir
        .iter()
        .flat_map(|folder| RunDirectory::files_in(folder));
    given.chain(kept).collect()
}

/// Prints what each role would be told, with the places of texts named.
fn show_prompts(rules: &str, asking: &RoleFlags, session: &mut Session) -> Result<Exit, Failure> {
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
        let prompt = render(asking.prompt_profile, input, Nonce::default());
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
