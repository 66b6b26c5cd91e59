//! `logosphere`: runs a population of minds that exchange anonymous messages.
//!
//! ```sh
//! logosphere demo                     # twelve scripted minds: a run, its verification, null models, a page
//! logosphere new my-experiment        # an experiment to change
//! ```
//!
//! `logosphere --help` lists the commands. The guide is `docs/logosphere.md` in the repository.

mod begin;
mod commands;
mod error;
mod estimate;
mod examples;
mod flags;
mod journal_file;
mod leaks;
mod numbers;
mod page;
mod population;
mod proof;
mod recorded;
mod running;
mod setup;
mod subject;

use std::path::PathBuf;
use std::process::ExitCode;

use bin_support::{DefaultPath, Exit, Failure, Program, Session};
use clap::ArgMatches;

use commands::{
    analyze, demo, diff, export, forecast, init_check, leak, lineage, minds, new, null, parse,
    replay, report, resume, run, verify,
};
use error::Error;
use flags::RunFlags;
use subject::EXPERIMENTS;

/// Run minds that share a pool of anonymous messages
///
/// A journal proves the course of a run.
///
/// Without a command: `run`. Without a key and --provider no model is called: scripted minds answer.
#[derive(Debug, clap::Parser)]
#[command(name = "logosphere", version, after_help = examples::PROGRAM)]
struct Cli {
    #[command(flatten)]
    run: RunFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

impl Program for Cli {
    fn places(_: &ArgMatches) -> Result<Vec<DefaultPath>, Failure> {
        Ok(vec![DefaultPath::new("experiments", EXPERIMENTS)])
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make the directory of a new experiment
    #[command(after_help = examples::NEW)]
    New(new::NewArgs),
    /// Check an init.md and show its seed messages
    #[command(after_help = examples::INIT_CHECK)]
    InitCheck(init_check::InitCheckArgs),
    /// Run an experiment
    #[command(after_help = examples::RUN)]
    Run(Box<run::RunArgs>),
    /// Continue a run that stopped: only missing calls are made
    #[command(after_help = examples::RESUME)]
    Resume(Box<resume::ResumeArgs>),
    /// Rebuild a journal from itself and compare every byte
    #[command(after_help = examples::REPLAY)]
    Replay(replay::ReplayArgs),
    /// Check everything that a journal records
    ///
    /// The exit code is 4 if a check fails.
    #[command(after_help = examples::VERIFY)]
    Verify(verify::VerifyArgs),
    /// Check that minds received nothing but messages
    ///
    /// The exit code is 4 if they received more.
    #[command(after_help = examples::LEAK)]
    Leak(leak::LeakArgs),
    /// Compare the events of two runs
    ///
    /// The exit code is 4 if it differs.
    #[command(after_help = examples::DIFF)]
    Diff(diff::DiffArgs),
    /// Measure similarity, repetition, turnover and seeds of a run
    #[command(after_help = examples::ANALYZE)]
    Analyze(analyze::AnalyzeArgs),
    /// Write a run as one page for a browser, without a network
    #[command(after_help = examples::REPORT)]
    Report(report::ReportArgs),
    /// Export a run's messages, links or measures
    #[command(after_help = examples::EXPORT)]
    Export(export::ExportArgs),
    /// Show which message descends from which
    #[command(after_help = examples::LINEAGE)]
    Lineage(lineage::LineageArgs),
    /// Estimate the calls of a run and their cost
    ///
    /// Nothing is sent.
    #[command(after_help = examples::FORECAST)]
    Forecast(Box<forecast::ForecastArgs>),
    /// Compare a run with a null model
    #[command(after_help = examples::NULL)]
    Null(null::NullArgs),
    /// List the scripted minds of offline runs
    #[command(after_help = examples::MINDS)]
    Minds,
    /// Show how one answer is read
    #[command(after_help = examples::PARSE)]
    Parse(parse::ParseArgs),
    /// Show a run, its check, null models and report, offline
    #[command(after_help = examples::DEMO)]
    Demo(demo::DemoArgs),
}

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    if cli.command.is_some() && cli.run.any() {
        return Err(Failure::usage(Error::BeforeCommand));
    }
    match &cli.command {
        None => run::execute(cli.run.output_dir.as_deref(), &cli.run, session),
        Some(Command::New(args)) => new::execute(args, session),
        Some(Command::InitCheck(args)) => init_check::execute(args, session),
        Some(Command::Run(args)) => {
            run::execute(args.directory().map(PathBuf::as_path), &args.flags, session)
        }
        Some(Command::Resume(args)) => resume::execute(args, session),
        Some(Command::Replay(args)) => replay::execute(args, session),
        Some(Command::Verify(args)) => verify::execute(args, session),
        Some(Command::Leak(args)) => leak::execute(args, session),
        Some(Command::Diff(args)) => diff::execute(args, session),
        Some(Command::Analyze(args)) => analyze::execute(args, session),
        Some(Command::Export(args)) => export::execute(args, session),
        Some(Command::Lineage(args)) => lineage::execute(args, session),
        Some(Command::Null(args)) => null::execute(args, session),
        Some(Command::Forecast(args)) => forecast::execute(args, session),
        Some(Command::Parse(args)) => parse::execute(args, session),
        Some(Command::Report(args)) => report::execute(args, session),
        Some(Command::Minds) => minds::execute(session),
        Some(Command::Demo(args)) => demo::execute(args, session),
    }
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Parser as _};
    use logosphere_core::config::{Durability, ForgedSignaturePolicy, Layer, OnError, Scheduling};
    use logosphere_core::format::ParseMode;

    use clap::ValueEnum;
    use logosphere_core::export::{ExportFormat, ExportKind};
    use logosphere_core::measures::nulls::Null;
    use serde_json::json;

    use super::*;

    fn matches(line: &str) -> clap::ArgMatches {
        let words = ["logosphere"].into_iter().chain(line.split_whitespace());
        let parsed = bin_support::command::<Cli>().try_get_matches_from(words);
        parsed.unwrap_or_else(|error| panic!("{error}"))
    }

    fn parse(line: &str) -> Cli {
        Cli::from_arg_matches(&matches(line)).unwrap()
    }

    #[test]
    fn every_help_has_its_form_and_examples_that_parse() {
        test_support::check_help(&bin_support::command::<Cli>());
    }

    #[test]
    fn flags_alone_are_a_run() {
        for line in [
            "--rounds 2 --output-dir D --quiet",
            "--quiet --rounds=2 --output-dir=D",
        ] {
            let cli = parse(line);
            assert!(cli.command.is_none());
            assert_eq!(cli.run.settings.layer().max_rounds, Some(2));
            assert_eq!(cli.run.output_dir, Some("D".into()));
            assert!(matches(line).get_flag("quiet"), "{line}");
        }
    }

    #[test]
    fn common_flags_stand_before_or_behind_a_command() {
        for line in ["--quiet run D --rounds 2", "run D --rounds=2 --quiet"] {
            let cli = parse(line);
            assert!(matches(line).get_flag("quiet") && !cli.run.any(), "{line}");
            let Some(Command::Run(run)) = cli.command else {
                panic!("{line}");
            };
            assert_eq!(run.experiment, Some("D".into()));
            assert_eq!(run.flags.settings.rounds, Some(2));
        }
    }

    #[test]
    fn flags_of_a_run_before_a_command_are_seen() {
        for flag in [
            "--rounds 2",
            "--no-stamp",
            "--dry-run",
            "--record f",
            "--max-usd 1",
            "--output-dir D",
        ] {
            assert!(parse(&format!("{flag} verify J")).run.any(), "{flag}");
        }
    }

    #[test]
    fn l40_every_setting_that_a_flag_names_is_in_the_layer() {
        let line = "--rounds 0 --minds 1 --samples 0 --active 1 --token-limit 9 --scheduling snapshot --parse-mode strict \
            --impersonation discard --no-stamp --seed 5 --mind silent --max-tokens 6 --max-wall 7 --on-error stop \
            --durability flush --provider vllm --base-url http://h/v1 --model m --max-usd 0.25 --concurrency 8";
        let layer = parse(line).run.settings.layer();
        let expected = Layer::default().with(|layer| {
            layer.n_minds = Some(1);
            layer.k_samples = Some(0);
            layer.m_active_pool = Some(1);
            layer.max_rounds = Some(0);
            layer.token_limit = Some(9);
            layer.provider = Some("vllm".to_owned());
            layer.model = Some("m".to_owned());
            layer.api_base_url = Some("http://h/v1".to_owned());
            layer.seed = Some(5);
            layer.scheduling = Some(Scheduling::Snapshot);
            layer.parse_mode = Some(ParseMode::Strict);
            layer.impersonation = Some(ForgedSignaturePolicy::Discard);
            layer.stamp_seeds = Some(false);
            layer.concurrency = Some(8);
            layer.on_error = Some(OnError::Stop);
            layer.max_usd = Some(0.25);
            layer.max_tokens = Some(6);
            layer.max_wall = Some(std::time::Duration::from_secs(7));
            layer.durability = Some(Durability::Flush);
            layer.mind = Some("silent".to_owned());
        });
        assert_eq!(layer, expected);
    }

    #[test]
    fn numbers_out_of_range_are_usage_errors_that_name_the_flag() {
        for line in [
            "--minds=0",
            "--minds=65536",
            "--rounds=-1",
            "--rounds=4294967296",
            "--active=0",
            "--samples=-1",
            "--token-limit=0",
            "--seed=-1",
            "--parse-mode=legacy",
            "--max-wall=1.5",
        ] {
            let words = ["logosphere", "run", line];
            let error = Cli::try_parse_from(words).map(|_| ()).unwrap_err();
            let flag = line.split('=').next().unwrap();
            assert!(error.to_string().contains(flag), "{error}");
        }
    }

    fn words<T: ValueEnum>() -> Vec<String> {
        let values = T::value_variants().iter();
        values
            .map(|value| value.to_possible_value().unwrap().get_name().to_owned())
            .collect()
    }

    fn are_all<T: ValueEnum + ToString>(all: &[T]) {
        assert!(
            words::<T>()
                .into_iter()
                .eq(all.iter().map(ToString::to_string))
        );
    }

    /// Checks that the words of a flag are those of `config.json`.
    fn are_read<T: ValueEnum + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>() {
        for (word, value) in words::<T>().iter().zip(T::value_variants()) {
            assert_eq!(&serde_json::from_value::<T>(json!(word)).unwrap(), value);
        }
    }

    #[test]
    fn l39_the_words_of_flags_are_those_of_the_core() {
        are_all(ExportKind::ALL);
        are_all(ExportFormat::ALL);
        are_all(Null::ALL);
        are_read::<Durability>();
        are_read::<ForgedSignaturePolicy>();
        are_read::<OnError>();
        are_read::<ParseMode>();
        are_read::<Scheduling>();
        assert!("Csv".parse::<ExportFormat>().is_err());
        assert!(ExportFormat::from_str("Csv", false).is_err());
    }
}
