//! The models and settings of a run, by its flags.

use std::path::{Path, PathBuf};

use bin_support::model::{ModelFlags, ProviderName, price_table};
use bin_support::{Failure, Session};
use clap::ValueEnum as _;
use llm_client::Clock;
use zer0gravity_engine::Tokenizers;
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::plan::rubric::Rubric;
use zer0gravity_engine::plan::{Config, Costs, Plan};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::result::Models;
use zer0gravity_engine::rules::codec::RuleCodec;
use zer0gravity_engine::rules::lint::LintFinding;
use zer0gravity_engine::run::{RunDirectory, RunNotes};

use crate::error::{self, Error};
use crate::flags::{Checks, Repeats, RoleFlags, ScoringFlags};
use crate::model::{self, ModelChoice};
use crate::selection;

/// The models that the flags of `run` and `matrix` name, under the cap of the run in `directory` if no flag gives one.
pub fn asked(
    asking: &RoleFlags,
    directory: Option<&Path>,
    session: &Session,
) -> Result<ModelChoice, Failure> {
    model::panel(&asking.judging.judge_model)?;
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
    let mut flags = asking.model.clone();
    flags.max_usd = flags.max_usd.or_else(|| RunDirectory::cap_in(directory?));
    let mut asked = model::open(
        &flags,
        asking.prices.as_deref(),
        &others,
        asking.seed.seed,
        session,
    )?;
    // The file was named by the caller.
    if asking.scoring.rubric.is_some() {
        asked.allow_programs();
    }
    Ok(asked)
}

/// The settings of a plan, by the flags of `run` and `matrix`.
pub fn config(
    asking: &RoleFlags,
    repeats: &Repeats,
    label: ModelLabel,
    model: &str,
) -> Result<Config, Failure> {
    let judges = match asking.judging.judge_model.as_slice() {
        [] => vec![model.to_owned()],
        given => given.to_vec(),
    };
    let decoder = asking.decoder_model.as_deref().unwrap_or(model);
    let mut config = Config::new(label, model);
    config.models = Models::new(model)
        .decoder(decoder.to_owned())
        .judges(judges);
    config.prompt_profile = asking.prompt_profile;
    config.max_output_tokens = asking.max_output_tokens;
    config.trials = repeats.trials;
    config.decodes = repeats.decodes;
    config.judge_samples = repeats.judge_samples;
    config.execute = asking.execute;
    config.implementability_once = asking.implementability_once;
    if asking.cost {
        config.cost = Costs::Counted;
    }
    config.measure_overhead = asking.measure_overhead;
    config.no_measure_tokens = asking.no_measure_tokens;
    config.seed = asking.seed.seed;
    config.rubric = rubric(&asking.scoring)?;
    config.judge_prompt = judge_prompt(&asking.scoring)?;
    Ok(config)
}

/// The rubric that a flag names.
pub fn rubric(flags: &ScoringFlags) -> Result<Option<Rubric>, Failure> {
    let read = |path: &PathBuf| {
        Rubric::read(&text(path)?).map_err(|source| {
            let path = path.clone();
            Failure::usage(Error::Rubric { path, source })
        })
    };
    flags.rubric.as_ref().map(read).transpose()
}

/// The prompt of the judge of the meaning that a flag names.
pub fn judge_prompt(flags: &ScoringFlags) -> Result<Option<String>, Failure> {
    let read = |path: &PathBuf| {
        let prompt = text(path)?;
        if prompt.contains("score") {
            return Ok(prompt);
        }
        let path = path.clone();
        Err(Failure::usage(Error::NoScorePrompt { path }))
    };
    flags.judge_prompt.as_ref().map(read).transpose()
}

fn text(path: &Path) -> Result<String, Failure> {
    let bytes = selection::read(path).map_err(Failure::usage)?;
    String::from_utf8(bytes).map_err(|_| {
        let path = path.to_owned();
        Failure::usage(Error::NoUtf8 { path })
    })
}

/// Refuses a gate whose measure no result can have, and prompts of the user that no model would read.
pub fn check_scoring(checks: &Checks, config: &Config) -> Result<(), Failure> {
    let rubric = config.rubric.as_ref();
    if let Some(message) = checks.gate.iter().find_map(|gate| gate.unknown(rubric)) {
        return Err(Failure::usage(Error::UnknownMeasure { message }));
    }
    let judges = rubric.is_some_and(|rubric| rubric.judges().next().is_some());
    let flag = match config.judge_prompt {
        Some(_) => "--judge-prompt",
        None if judges => "--rubric: a judge",
        None => return Ok(()),
    };
    if config.label.offline {
        return Err(Failure::usage(Error::PromptOffline { flag }));
    }
    Ok(())
}

/// Refuses what would fail or mislead after the start: rules that need a model in an offline run, checks of an offline run
/// that was not asked for, a cap below the first call.
pub fn check(
    plan: &Plan,
    asking: &RoleFlags,
    checks: &Checks,
    session: &Session,
) -> Result<(), Failure> {
    check_scoring(checks, &plan.config)?;
    let asked_for = asking.model.provider == Some(ProviderName::Offline);
    if !plan.config.label.offline {
        return check_cap(plan, asking);
    }
    if let Some(flag) = checks.flag().filter(|_| !asked_for) {
        return Err(Failure::usage(Error::CheckedOffline { flag }));
    }
    // Several encodings are compared all the same: those that need a model fail, each by itself.
    let [encoding] = plan.encodings.as_slice() else {
        for encoding in &plan.encodings {
            if let Some(finding) = unread_line(&encoding.rules) {
                let (line, evidence) = (finding.line, finding.evidence);
                let id = encoding.id.clone();
                session.report(&if evidence.is_empty() {
                    Error::NoRule { id }
                } else {
                    Error::FailsOffline { id, line, evidence }
                });
            }
        }
        return Ok(());
    };
    match unread_line(&encoding.rules) {
        None => Ok(()),
        Some(finding) if finding.evidence.is_empty() => Err(Failure::usage(Error::NoRule {
            id: encoding.path.clone().unwrap_or_else(|| encoding.id.clone()),
        })),
        Some(finding) => Err(Failure::usage(Error::NeedsModel {
            line: finding.line,
            evidence: finding.evidence,
        })),
    }
}

/// Refuses a cap that not even the first calls fit under, those that encode.
fn check_cap(plan: &Plan, asking: &RoleFlags) -> Result<(), Failure> {
    let Some(cap) = asking
        .model
        .max_usd
        .filter(|_| asking.model.replay.is_none())
    else {
        return Ok(());
    };
    let config = &plan.config;
    let table = price_table(asking.prices.as_deref())?;
    let encoder = config.models.encoder.as_str();
    let Some(model) = table.find(&config.label.provider, encoder) else {
        return Ok(());
    };
    let calls = plan.calls(&Tokenizers::default()).into_iter();
    let encodings = calls.filter(|call| call.role == Role::Encoder);
    let most = encodings.filter_map(|call| model.max_cost(call.at_most.prompt, call.at_most.reply));
    match most.max() {
        Some(most) if most > cap => Err(Failure::usage(Error::CapTooLow {
            cap,
            model: encoder.to_owned(),
            most,
        })),
        _ => Ok(()),
    }
}

/// The first line of rules that no program can carry out.
fn unread_line(rules: &str) -> Option<LintFinding> {
    let (codec, findings) = RuleCodec::parse(rules);
    let unread = || findings.into_iter().find(LintFinding::is_info);
    (!codec.is_mechanical()).then(unread).flatten()
}

/// The directory of a run that is begun, or continued with the same plan.
pub fn begun(
    path: &Path,
    plan: &Plan,
    notes: RunNotes,
    flags: &ModelFlags,
    clock: &dyn Clock,
) -> Result<RunDirectory, Failure> {
    let notes = notes.base_url(flags.base_url.clone()).cap(flags.max_usd);
    RunDirectory::create(path, plan, notes, clock).map_err(error::directory)
}

/// The files that a command on a run reads or keeps: no output may take their place.
pub fn used_files<'a>(
    directory: &RunDirectory,
    flags: &'a ModelFlags,
    prices: Option<&'a Path>,
) -> impl Iterator<Item = PathBuf> + use<'a> {
    let recordings = [&flags.replay, &flags.record].into_iter().flatten();
    let given = prices.into_iter().chain(recordings.map(PathBuf::as_path));
    let kept: Vec<_> = RunDirectory::files_in(directory.path()).collect();
    given.map(Path::to_owned).chain(kept)
}

/// The models of a run that is continued or judged again by `plan`, at the address it was begun with unless a flag gives
/// another, and under its cap. The programs of its rubric, which a folder supplies, need to be allowed.
pub fn reopened(
    directory: &mut RunDirectory,
    plan: &Plan,
    flags: &ModelFlags,
    prices: Option<&Path>,
    allow_programs: bool,
    session: &Session,
) -> Result<ModelChoice, Failure> {
    let config = &plan.config;
    let programs = config.rubric.iter().flat_map(Rubric::programs);
    let programs: Vec<_> = programs
        .map(|program| format!("{:?}", program.argv))
        .collect();
    if !programs.is_empty() && !allow_programs {
        let programs = programs.join(", ");
        return Err(Failure::usage(Error::Programs { programs }));
    }
    let provider = ProviderName::from_str(&config.label.provider, false).ok();
    model::ensure_not_input(flags, RunDirectory::files_in(directory.path()))?;
    let mut flags = flags.clone();
    flags.provider = flags.provider.or(provider);
    flags.model = flags.model.or_else(|| Some(config.models.encoder.clone()));
    if let (None, Some(recorded)) = (&flags.base_url, directory.base_url()) {
        flags.base_url = Some(recorded.to_owned());
        flags.base_url_file = Some(directory.path().join("run.json"));
    }
    flags.max_usd = flags.max_usd.or(directory.cap());
    let judges = config.models.judges.iter();
    let others: Vec<_> = std::iter::once(("--decoder-model", config.models.decoder.as_str()))
        .chain(judges.map(|model| ("--judge-model", model.as_str())))
        .collect();
    let mut asked = model::open(&flags, prices, &others, config.seed, session)?;
    if allow_programs {
        asked.allow_programs();
    }
    let label = asked.model_client.label();
    (directory.check_models(&label, &asked.model)).map_err(error::directory)?;
    directory
        .keep_cap(flags.max_usd)
        .map_err(error::directory)?;
    Ok(asked)
}
