//! `logosphere`: runs a population of minds that exchange anonymous messages.
//!
//! ```sh
//! logosphere demo                     # twelve scripted minds: a run, its verification, null models, a page
//! logosphere new my-experiment        # an experiment to change
//! logosphere run my-experiment
//! ```
//!
//! `logosphere --help` lists the commands. The guide is `docs/logosphere.md` in the repository.

mod begin;
mod chance;
mod changing;
mod clipped;
mod commands;
mod embedding;
mod error;
mod estimate;
mod examples;
mod flags;
mod folders;
mod foreign;
mod forking;
mod import_file;
mod journal_file;
mod leaks;
mod many_runs;
mod measuring;
mod numbers;
mod page;
mod population;
mod proof;
mod reading;
mod recorded;
mod run_view;
mod running;
mod setup;
mod status;
mod study_folder;
mod study_runs;
mod study_view;
mod sweep_estimate;
mod sweeping;
mod tools;

use std::process::ExitCode;

use bin_support::demo::DemoArgs;
use bin_support::mcp::McpFlags;
use bin_support::runs::EXPERIMENTS;
use bin_support::{DefaultPath, Exit, Failure, Program, Session};
use clap::ArgMatches;

use commands::{
    analyze, check_init, check_leaks, demo, diff, estimate as estimate_command, export, fork,
    import, lineage, mcp, minds, new, null_model, parse, report, resume, run,
    status as status_command, sweep, verify, watch,
};

/// Run minds that share a pool of anonymous messages
///
/// A journal proves the course of a run. Without a key and --provider no model is called: scripted minds answer.
#[derive(Debug, clap::Parser)]
#[command(name = "logosphere", version, after_help = examples::PROGRAM)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

impl Program for Cli {
    const RARE: &'static [&'static str] = &["check-init", "null-model", "diff", "parse", "mcp"];

    fn places(_: &ArgMatches) -> Result<Vec<DefaultPath>, Failure> {
        Ok(vec![DefaultPath::new("experiments", EXPERIMENTS)])
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make the folder of a new experiment
    #[command(after_help = examples::NEW)]
    New(new::NewArgs),
    /// Check an init.md and show its seed messages
    #[command(alias = "init-check", after_help = examples::CHECK_INIT)]
    CheckInit(check_init::CheckInitArgs),
    /// Import messages of other programs to measure them
    ///
    /// The folder in experiments/ is read by analyze, report, lineage, export and null-model.
    #[command(after_help = examples::IMPORT)]
    Import(import::ImportArgs),
    /// List the scripted minds of offline runs
    #[command(after_help = examples::MINDS)]
    Minds(minds::MindsArgs),
    /// Estimate the calls of a run and their cost
    ///
    /// Nothing is sent. The lengths of answers were measured in the run, or they are an assumption, which is printed.
    #[command(alias = "forecast", after_help = examples::ESTIMATE, mut_arg("output_dir", |flag| flag.hide_short_help(true)))]
    Estimate(Box<estimate_command::EstimateArgs>),
    /// Run an experiment
    ///
    /// Flags override the settings of the experiment's config.json.
    #[command(after_help = examples::RUN)]
    Run(Box<run::RunArgs>),
    /// Continue a run that stopped: only missing calls are made
    ///
    /// With more rounds than before it also continues a run that ended. Provider and model must be those of the run.
    #[command(after_help = examples::RESUME)]
    Resume(Box<resume::ResumeArgs>),
    /// Make the runs of a plan and test them together
    ///
    /// The same command continues a sweep that stopped: only missing runs and calls are made.
    #[command(after_help = examples::SWEEP)]
    Sweep(Box<sweep::SweepArgs>),
    /// Continue a run from a call, as it was and with changes
    ///
    /// The same command continues a fork that stopped: only missing runs and calls are made.
    #[command(after_help = examples::FORK)]
    Fork(Box<fork::ForkArgs>),
    /// Show how far a run has come
    #[command(after_help = examples::STATUS)]
    Status(status_command::StatusArgs),
    /// Show a run, sweep or fork in the terminal
    ///
    /// Nothing is written, and no other command is kept from the run. The last picture stays on the screen when the run ends. Exit
    /// code 3 if the process that works on the run is gone before its end. Of a sweep or a fork the runs that are done and open, the
    /// cost and the errors are shown.
    #[command(after_help = examples::WATCH)]
    Watch(watch::WatchArgs),
    /// Check everything that a journal records
    ///
    /// The journal is rebuilt from itself and compared byte for byte. The exit code is 4 if a check fails.
    #[command(alias = "replay", after_help = examples::VERIFY)]
    Verify(verify::VerifyArgs),
    /// Check that minds received nothing but messages
    ///
    /// The exit code is 4 if they received more.
    #[command(alias = "leak", after_help = examples::CHECK_LEAKS)]
    CheckLeaks(check_leaks::CheckLeaksArgs),
    /// Compare the events of two runs
    ///
    /// The exit code is 4 if they differ.
    #[command(after_help = examples::DIFF)]
    Diff(diff::DiffArgs),
    /// Say whether texts are selected, with the measures of a run
    ///
    /// With -v all measures, the volume and the lineage are shown.
    #[command(after_help = examples::ANALYZE)]
    Analyze(analyze::AnalyzeArgs),
    /// Compare a run with a null model
    #[command(alias = "null", after_help = examples::NULL_MODEL)]
    NullModel(null_model::NullModelArgs),
    /// Show which message descends from which
    #[command(after_help = examples::LINEAGE)]
    Lineage(lineage::LineageArgs),
    /// Write a run as one page for a browser, without a network
    #[command(after_help = examples::REPORT)]
    Report(report::ReportArgs),
    /// Export a run's messages, links or measures
    #[command(after_help = examples::EXPORT)]
    Export(export::ExportArgs),
    /// Show how one answer is read
    #[command(after_help = examples::PARSE)]
    Parse(parse::ParseArgs),
    /// Serve tests to models of other programs over MCP
    ///
    /// The tools `parse` and `null_test` read no file, and keep nothing between two calls.
    #[command(after_help = examples::MCP)]
    Mcp(McpFlags),
    /// Show a run, its check and its report, offline
    #[command(after_help = examples::DEMO, mut_arg("dir", |arg| arg.alias("output-dir")))]
    Demo(DemoArgs),
}

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    match &cli.command {
        Command::New(args) => new::execute(args, session),
        Command::CheckInit(args) => check_init::execute(args, session),
        Command::Import(args) => import::execute(args, session),
        Command::Minds(args) => minds::execute(args, session),
        Command::Estimate(args) => estimate_command::execute(args, session),
        Command::Run(args) => run::execute(args, session),
        Command::Resume(args) => resume::execute(args, session),
        Command::Sweep(args) => sweep::execute(args, session),
        Command::Fork(args) => fork::execute(args, session),
        Command::Status(args) => status_command::execute(args, session),
        Command::Watch(args) => watch::execute(args, session),
        Command::Verify(args) => verify::execute(args, session),
        Command::CheckLeaks(args) => check_leaks::execute(args, session),
        Command::Diff(args) => diff::execute(args, session),
        Command::Analyze(args) => analyze::execute(args, session),
        Command::NullModel(args) => null_model::execute(args, session),
        Command::Lineage(args) => lineage::execute(args, session),
        Command::Report(args) => report::execute(args, session),
        Command::Export(args) => export::execute(args, session),
        Command::Parse(args) => parse::execute(args, session),
        Command::Mcp(flags) => mcp::execute(flags, session),
        Command::Demo(args) => demo::execute(args, session),
    }
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Parser as _};
    use logosphere_core::config::{Durability, ForgedSignaturePolicy, Layer, OnError, Scheduling};
    use logosphere_core::format::ParseMode;

    use clap::ValueEnum;
    use logosphere_core::export::{ExportFormat, ExportKind};
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

    fn run_args(line: &str) -> Box<run::RunArgs> {
        match parse(line).command {
            Command::Run(args) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn common_flags_stand_before_or_behind_a_command() {
        for line in ["--quiet run D --rounds 2", "run D --rounds=2 --quiet"] {
            assert!(matches(line).get_flag("quiet"), "{line}");
            let run = run_args(line);
            assert_eq!(run.experiment.experiment, Some("D".into()));
            assert_eq!(run.flags.settings.changeable.rounds, Some(2));
        }
    }

    #[test]
    fn names_of_an_earlier_release_are_hidden_aliases() {
        for line in [
            "init-check E",
            "forecast E",
            "replay E --out F",
            "leak E",
            "null E",
            "report E --out F",
            "export lineage E --out F",
            "analyze E --all",
            "run E --dry-run",
        ] {
            parse(line);
        }
    }

    #[test]
    fn resume_takes_the_flags_that_a_run_can_change_and_no_other() {
        let words = |flag: &str| ["logosphere", "resume", "E", flag].map(str::to_owned);
        let parses = |flag| Cli::try_parse_from(words(flag)).is_ok();
        for flag in [
            "--rounds=2",
            "--max-usd=1",
            "--max-wall=2",
            "--concurrency=2",
            "--on-error=wait",
            "--call-timeout=9",
            "--first-byte-timeout=9",
            "--retries=9",
            "--retry-wait=9",
        ] {
            assert!(parses(flag), "{flag}");
        }
        for flag in [
            "--minds=2",
            "--seed=1",
            "--mind=copier",
            "--token-limit=5",
            "--max-messages=5",
            "--max-message-chars=5",
        ] {
            assert!(!parses(flag), "{flag}");
        }
    }

    #[test]
    fn l40_every_setting_that_a_flag_names_is_in_the_layer() {
        let line = "run --rounds 0 --minds 1 --samples 0 --active 1 --token-limit 9 --scheduling snapshot --parse-mode strict \
            --impersonation discard --no-stamp --seed 5 --mind silent --max-tokens 6 --max-wall 7 --on-error wait \
            --call-timeout 30 --first-byte-timeout 0 --retries 5 --retry-wait 90 --max-messages 3 --max-message-chars 80 \
            --durability flush --provider vllm --base-url http://h/v1 --model m --max-usd 0.25 --concurrency 8";
        let layer = run_args(line).flags.settings.layer();
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
            layer.on_error = Some(OnError::Wait);
            layer.call_timeout = Some(std::time::Duration::from_secs(30));
            layer.first_byte_timeout = Some(std::time::Duration::ZERO);
            layer.retries = Some(5);
            layer.retry_wait = Some(std::time::Duration::from_secs(90));
            layer.max_messages = Some(3);
            layer.max_message_chars = Some(80);
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
        are_read::<Durability>();
        are_read::<ForgedSignaturePolicy>();
        are_read::<OnError>();
        are_read::<ParseMode>();
        are_read::<Scheduling>();
        assert!("Csv".parse::<ExportFormat>().is_err());
        assert!(ExportFormat::from_str("Csv", false).is_err());
    }
}
