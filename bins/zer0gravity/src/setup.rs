//! The models and settings of a run, by its flags.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use bin_support::model::{ModelFlags, ProviderName, price_table};
use bin_support::{Failure, Session};
use clap::ValueEnum as _;
use llm_client::Clock;
use zer0gravity_engine::Tokenizers;
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::plan::rubric::Rubric;
use zer0gravity_engine::plan::{Config, Costs, ModelPair, Plan};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::rules::codec::RuleCodec;
use zer0gravity_engine::rules::lint::LintFinding;
use zer0gravity_engine::run::{RunDirectory, RunNotes};

use crate::error::{self, Error};
use crate::flags::{Checks, MatrixModels, Repeats, RoleFlags, ScoringFlags};
use crate::model::{self, ENCODER, ModelChoice};
use crate::selection;

/// The models that the flags of `run` and `matrix` name, under the cap of the run in `directory` if no flag gives one.
pub fn asked(
    asking: &RoleFlags,
    crossed: &MatrixModels,
    directory: Option<&Path>,
    session: &Session,
) -> Result<ModelChoice, Failure> {
    model::panel(&asking.judging.judge_model)?;
    let others = further_models(asking, crossed);
    let mut flags = asking.model.clone();
    flags.max_usd = flags.max_usd.or_else(|| RunDirectory::cap_in(directory?));
    let every_role = [&asking.judging.judge_model, &asking.decoder_model];
    if every_role.iter().all(|models| !models.is_empty()) {
        // A model that no role has is not asked for.
        flags.model = flags
            .model
            .or_else(|| crossed.encoder_model.first().cloned());
    }
    for model in unpaired(asking, crossed) {
        let model = bin_support::escape(model);
        session.warn(&format!(
            "--pair-models: {model} is not both an --encoder-model and a --decoder-model, and is left out"
        ));
    }
    let first = flags.model.as_deref().unwrap_or(model::DEFAULT_MODEL);
    let mut config = Config::new(ModelLabel::new("", ""), first);
    roles(&mut config, asking, crossed)?;
    let sampled = sampled(&config);
    let mut asked = model::open(
        &flags,
        asking.prices.as_deref(),
        &others,
        &sampled,
        asking.seed.seed,
        session,
    )?;
    // The file was named by the caller.
    if asking.scoring.rubric.is_some() {
        asked.allow_programs();
    }
    Ok(asked)
}

/// The models of further roles than `--model`, each with its flag.
pub fn further_models<'a>(
    asking: &'a RoleFlags,
    crossed: &'a MatrixModels,
) -> Vec<(&'static str, &'a str)> {
    let named = [
        ("--judge-model", &asking.judging.judge_model),
        ("--decoder-model", &asking.decoder_model),
        (ENCODER, &crossed.encoder_model),
    ];
    let of = |(flag, models): (&'static str, &'a Vec<String>)| {
        models.iter().map(move |model| (flag, model.as_str()))
    };
    named.into_iter().flat_map(of).collect()
}

/// The models that `--pair-models` leaves out.
fn unpaired<'a>(asking: &'a RoleFlags, crossed: &'a MatrixModels) -> Vec<&'a String> {
    let (encoders, decoders) = (&crossed.encoder_model, &asking.decoder_model);
    if !crossed.pair_models || encoders.is_empty() || decoders.is_empty() {
        return Vec::new();
    }
    let all = encoders.iter().chain(decoders);
    all.filter(|model| !encoders.contains(model) || !decoders.contains(model))
        .collect()
}

/// No further models, for a command that takes one decoder model.
pub fn one_decoder(asking: &RoleFlags) -> Result<MatrixModels, Failure> {
    if asking.decoder_model.len() > 1 {
        return Err(Failure::usage(Error::SeveralDecoders));
    }
    Ok(MatrixModels::default())
}

/// All encoder and decoder models of a plan with several pairs of them, in plan order; empty for one pair.
pub fn crossed_models(config: &Config) -> Vec<String> {
    let pairs = config.model_pairs.iter();
    let models = pairs.flat_map(|pair| [&pair.encoder, &pair.decoder]);
    let mut distinct = Vec::new();
    for model in models {
        if !distinct.contains(model) {
            distinct.push(model.clone());
        }
    }
    distinct
}

/// Sets the models of the roles, each of which has that of `config` if no flag names it, and their temperatures.
fn roles(config: &mut Config, asking: &RoleFlags, crossed: &MatrixModels) -> Result<(), Failure> {
    for (flag, models) in [
        (ENCODER, &crossed.encoder_model),
        ("--decoder-model", &asking.decoder_model),
    ] {
        let mut seen = HashSet::new();
        if let Some(model) = models.iter().find(|model| !seen.insert(*model)) {
            let model = model.clone();
            return Err(Failure::usage(Error::ModelTwice { flag, model }));
        }
    }
    let model = [config.models.encoder.clone()];
    let named = |models: &[String], other: &[String]| match models {
        // Alone, one list of paired models is also the other.
        [] if crossed.pair_models && !other.is_empty() => other.to_vec(),
        [] => model.to_vec(),
        given => given.to_vec(),
    };
    let encoders = named(&crossed.encoder_model, &asking.decoder_model);
    let decoders = named(&asking.decoder_model, &crossed.encoder_model);
    let all = encoders.iter().flat_map(|encoder| {
        let pair = |decoder: &String| ModelPair::new(encoder.as_str(), decoder.as_str());
        decoders.iter().map(pair)
    });
    let pairs: Vec<_> = all
        .filter(|pair| !crossed.pair_models || pair.encoder == pair.decoder)
        .collect();
    if pairs.is_empty() {
        return Err(Failure::usage(Error::NoPair));
    }
    *config = config.clone().with_pairs(pairs);
    if !asking.judging.judge_model.is_empty() {
        config.models.judges.clone_from(&asking.judging.judge_model);
    }
    config.temperature = asking.temperature;
    config.judge_temperature = asking.judging.judge_temperature;
    Ok(())
}

/// The models of all roles.
pub fn models(config: &Config) -> impl Iterator<Item = &str> {
    let writers = config
        .pairs()
        .flat_map(|(encoder, decoder)| [encoder, decoder]);
    writers.chain(config.models.judges.iter().map(String::as_str))
}

/// The models that are asked with a temperature, with it.
fn sampled(config: &Config) -> Vec<(&str, f64)> {
    let writers = config
        .pairs()
        .flat_map(|(encoder, decoder)| [encoder, decoder]);
    let writers = writers.filter_map(|model| Some((model, config.temperature?)));
    let judges = config.models.judges.iter();
    let judges = judges.filter_map(|model| Some((model.as_str(), config.judge_temperature?)));
    writers.chain(judges).collect()
}

/// The settings of a plan, by the flags of `run` and `matrix`.
pub fn config(
    asking: &RoleFlags,
    crossed: &MatrixModels,
    repeats: &Repeats,
    label: ModelLabel,
    model: &str,
) -> Result<Config, Failure> {
    let mut config = Config::new(label, model);
    roles(&mut config, asking, crossed)?;
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
    asked: &ModelChoice,
    session: &Session,
) -> Result<(), Failure> {
    check_scoring(checks, &plan.config)?;
    let mut seen = HashSet::new();
    let mut ids = plan.system_ids().into_iter();
    if let Some(id) = ids.find(|id| !seen.insert(id.clone())) {
        return Err(Failure::usage(Error::SystemTwice { id }));
    }
    let asked_for = asking.model.provider == Some(ProviderName::Offline);
    if !plan.config.label.offline {
        return check_cap(plan, asking, asked.is_batched());
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
fn check_cap(plan: &Plan, asking: &RoleFlags, is_batched: bool) -> Result<(), Failure> {
    let Some(cap) = asking
        .model
        .max_usd
        .filter(|_| asking.model.replay.is_none())
    else {
        return Ok(());
    };
    let config = &plan.config;
    let table = price_table(asking.prices.as_deref())?;
    let calls = plan.calls(&Tokenizers::default()).into_iter();
    let encodings = calls.filter(|call| call.role == Role::Encoder);
    let most = encodings.filter_map(|call| {
        let model = model::priced(&table, &config.label.provider, &call.model, is_batched)?;
        let most = model.max_cost(call.at_most.prompt, call.at_most.reply)?;
        Some((most, call.model))
    });
    match most.max_by_key(|(most, _)| *most) {
        Some((most, model)) if most > cap => {
            Err(Failure::usage(Error::CapTooLow { cap, model, most }))
        }
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

/// The models of a run that is continued or judged again by `plan`, under its cap and at the address it was begun with, unless a
/// flag gives another one. The programs of its rubric, which a folder supplies, need to be allowed.
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
    let decoders = config.pairs().map(|(_, decoder)| decoder);
    let encoders = config.encoders().into_iter();
    let others: Vec<_> = decoders
        .map(|model| ("--decoder-model", model))
        .chain(judges.map(|model| ("--judge-model", model.as_str())))
        .chain(encoders.map(|model| (ENCODER, model)))
        .collect();
    let sampled = sampled(config);
    let mut asked = model::open(&flags, prices, &others, &sampled, config.seed, session)?;
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
