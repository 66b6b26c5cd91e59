//! `zer0gravity run`: one encoding system, the results as a JSON array.

use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, OutputTarget, Session};
use serde_json::json;
use zer0gravity_engine::plan::rubric::Rubric;
use zer0gravity_engine::plan::{Plan, PlannedCase};
use zer0gravity_engine::prompts::{Nonce, PromptMessage, RoleInput, render};
use zer0gravity_engine::rules::codec::RuleCodec;
use zer0gravity_engine::run::{ChangedCalls, RunDirectory, RunNotes};

use crate::ci::CiFlags;
use crate::error::Error;
use crate::flags::{BatchFlag, Checks, Repeats, RoleFlags, Texts};
use crate::output::Show;
use crate::run_dir::{self, Continued, RunOutput};
use crate::selection::{self, Selected};
use crate::summary::Summary;
use crate::{experiment, model, output, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity run --all -o results.json
  zer0gravity run notes.txt";

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Print the results as JSON on a terminal, too.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub texts: Texts,
    /// File with the encoding system [default: the built-in rules].
    #[arg(long, value_name = "PATH")]
    pub encoding: Option<PathBuf>,
    /// File for the results; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Directory that keeps every call.
    ///
    /// The same command, or `resume`, then continues an interrupted run.
    #[arg(long, value_name = "DIR")]
    pub run_dir: Option<PathBuf>,
    /// Print the prompt of each role; no model is asked.
    #[arg(long)]
    pub show_prompts: bool,
    #[command(flatten)]
    pub batch: BatchFlag,
    #[command(flatten)]
    pub repeats: Repeats,
    #[command(flatten)]
    pub checks: Checks,
    #[command(flatten)]
    pub ci: CiFlags,
    #[command(flatten)]
    pub asking: RoleFlags,
}

pub fn execute(args: &RunArgs, session: &mut Session) -> Result<Exit, Failure> {
    let quiet = session.is_quiet();
    let paths: Vec<_> = args.encoding.iter().cloned().collect();
    let encodings = selection::encodings(&paths).map_err(Failure::usage)?;
    if args.show_prompts {
        return show_prompts(&encodings[0].rules, &args.asking, session);
    }
    let Selected { cases, left_out } = selection::texts(
        &args.texts,
        &[],
        args.asking.skip_bad,
        args.asking.allow_long,
        session,
    )?;
    if args.batch.batch && args.run_dir.is_none() {
        return Err(Failure::usage(Error::BatchWithoutDirectory));
    }
    if args.encoding.is_none() {
        tell_rules(&cases, session);
    }
    model::ensure_not_input(&args.asking.model, read(args))?;
    let crossed = setup::one_decoder(&args.asking)?;
    let mut asked = setup::asked(&args.asking, &crossed, args.run_dir.as_deref(), session)?;
    let plan = Plan::new(
        encodings,
        cases,
        setup::config(
            &args.asking,
            &crossed,
            &args.repeats,
            asked.model_client.label(),
            &asked.model,
        )?,
    );
    asked.use_batches(
        args.batch,
        args.run_dir.as_deref(),
        setup::models(&plan.config),
    )?;
    setup::check(&plan, &args.asking, &args.checks, &asked, session)?;
    // Whether it can be written is found out before anything is spent.
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let used: Vec<_> = read(args).into_iter().chain(args.asking.talks()).collect();
    let output = target.begin(&used)?;
    let results_file = target.file().map(Path::to_owned);
    let gate = args.ci.begin(
        &args.checks,
        used.into_iter()
            .chain(results_file)
            .chain(args.run_dir.clone()),
    )?;
    let show = Show::of(args.json, args.output.as_ref(), session);
    let summary = Summary::of(&plan, session.verbosity() > 0);
    let Some(path) = &args.run_dir else {
        let (results, cost) = experiment::results(&plan, &asked, session)?;
        let spent = (!asked.replay).then_some(&cost);
        output::results(show, output, &results, spent, &summary, quiet, session)?;
        return experiment::conclude(&results, left_out, gate, None, session);
    };
    let notes = RunNotes::default().left_out(left_out);
    let directory = setup::begun(path, &plan, notes, &args.asking.model, &*asked.clock)?;
    run_dir::tell(path, session);
    let report = run_dir::resume(&directory, &asked, ChangedCalls::Refuse, session)?;
    let (results, spent) = (&report.results, run_dir::spent(&report));
    output::results(show, output, results, spent, &summary, quiet, session)?;
    let (command, shown) = (Continued::Run, RunOutput::Nothing);
    let asked = Some(&asked);
    run_dir::conclude(command, &directory, &report, gate, shown, asked, session)
}

/// Says which text of a file is in the syntax of rules, though no file of rules was given.
fn tell_rules(cases: &[PlannedCase], session: &Session) {
    let is_rules = |case: &&PlannedCase| {
        case.level.is_none() && RuleCodec::parse(&case.case.text).0.is_mechanical()
    };
    if let Some(PlannedCase { case, .. }) = cases.iter().find(is_rules) {
        session.warn(&format!(
            "{}: this text is in the syntax of rules, and is scored as a text by the built-in rules; \
             --encoding FILE uses it as rules",
            bin_support::escape(&case.id)
        ));
    }
}

/// The files that a run reads, and those of its directory: neither results nor records may take their place.
fn read(args: &RunArgs) -> Vec<PathBuf> {
    let given = args.encoding.iter().chain(&args.asking.prices).cloned();
    let given = given.chain(args.asking.scoring.files());
    let given = given.chain(selection::files(&args.texts));
    let kept = args
        .run_dir
        .iter()
        .flat_map(|folder| RunDirectory::files_in(folder));
    given.chain(kept).collect()
}

/// Prints what each role would be told, with the places of texts named.
fn show_prompts(rules: &str, asking: &RoleFlags, session: &mut Session) -> Result<Exit, Failure> {
    let judge_prompt = setup::judge_prompt(&asking.scoring)?;
    let rubric = setup::rubric(&asking.scoring)?;
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
                prompt: judge_prompt.as_deref(),
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
    let own = rubric
        .iter()
        .flat_map(Rubric::judges)
        .map(|(scorer, judge)| {
            json!({
                "role": "ownJudge",
                "id": scorer.id,
                "system": judge.system,
                "messages": [PromptMessage::user(&*judge.user)],
            })
        });
    let prompts: Vec<_> = prompts.into_iter().chain(own).collect();
    session.results.json(&prompts)?;
    Ok(Exit::Done)
}
