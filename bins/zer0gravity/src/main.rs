//! `zer0gravity`: semantic compression, measured, on the command line.
//!
//! ```sh
//! zer0gravity run --level 1           # encode, decode and score one text, offline without a key
//! zer0gravity lint rules.txt          # check rules before a model is asked
//! ```
//!
//! `zer0gravity --help` lists the commands. The guide is `docs/zer0gravity.md` in the repository.

mod calibrated;
mod ci;
mod commands;
mod error;
mod experiment;
mod filter;
mod flags;
mod live;
mod measure_gate;
mod model;
mod output;
mod programs;
mod ranking;
mod run_dir;
mod selection;
mod setup;
mod source;
mod summary;
mod tools;

use std::process::ExitCode;

use bin_support::demo::DemoArgs;
use bin_support::mcp::McpFlags;
use bin_support::{DefaultPath, Exit, Failure, Program, Session, runs};
use clap::ArgMatches;
use zer0gravity_engine::rules::SYNTAX;

use commands::atoms::{self, AtomsArgs};
use commands::board::{self, BoardArgs};
use commands::calibrate::{self, CalibrateArgs};
use commands::compare::{self, CompareArgs};
use commands::demo;
use commands::estimate::{self, EstimateArgs};
use commands::export::{self, ExportArgs};
use commands::label::{self, LabelArgs};
use commands::levels::{self, LevelsArgs};
use commands::lint::{self, LintArgs};

use commands::matrix::{self, MatrixArgs};
use commands::mcp;
use commands::report::{self, ReportArgs};
use commands::rescore::{self, RescoreArgs};
use commands::resume::{self, ResumeArgs};
use commands::rules::{self, RulesArgs};
use commands::run::{self, RunArgs};
use commands::score::{self, ScoreArgs};
use commands::seal::{self, SealArgs};
use commands::status::{self, StatusArgs};

const EXAMPLES: &str = "\
Examples:
  zer0gravity run --level 1
  zer0gravity matrix --level 1
  zer0gravity report";

/// Encode texts, decode them afresh, score the round trip
///
/// Each round trip scores at most 100 points.
#[derive(Debug, clap::Parser)]
#[command(name = "zer0gravity", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

impl Program for Cli {
    /// The commands that document something or are for programs: the list of the others fits a screen.
    const RARE: &'static [&'static str] = &["rules", "levels", "mcp"];

    fn places(_: &ArgMatches) -> Result<Vec<DefaultPath>, Failure> {
        Ok(vec![DefaultPath::new("runs", runs::EXPERIMENTS)])
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run the experiment with one encoding system
    ///
    /// The texts are those of INPUT, of a level or of all levels.
    ///
    /// The results are a JSON array on stdout or in --output, and the summary is on stderr; a terminal gets the summary alone. Without a key no model is asked: the
    /// default rules, and others in the rule syntax, are then followed by a program, and every result says `offline`.
    #[command(after_help = run::EXAMPLES, mut_args(flags::single))]
    Run(RunArgs),
    /// Run every encoding system on every text, resumably
    #[command(after_help = matrix::EXAMPLES)]
    Matrix(MatrixArgs),
    /// Continue a run that stopped: only missing calls are made
    #[command(after_help = resume::EXAMPLES)]
    Resume(ResumeArgs),
    /// Print the status of a run, also while it works
    #[command(after_help = status::EXAMPLES)]
    Status(StatusArgs),
    /// Judge a finished run again: only judges are asked
    #[command(after_help = rescore::EXAMPLES)]
    Rescore(RescoreArgs),
    /// Score texts that were encoded and decoded elsewhere
    ///
    /// The file is JSON, JSON lines or CSV.
    ///
    /// Without --provider no model is asked: points and token numbers that are given are taken, others are estimated from
    /// the letters and marked so.
    #[command(after_help = score::EXAMPLES)]
    Score(ScoreArgs),
    /// Check encoding systems for faults
    ///
    /// A finding is `FILE:LINE: CODE message`. Exit code 4 if one is an error, or is named by --deny.
    #[command(after_help = lint::EXAMPLES)]
    Lint(LintArgs),
    /// Show what a text commits to, or what another text lost
    ///
    /// Commitments are identifiers, dates, numbers, names, and words that deny, oblige, condition, order, quantify or compare.
    #[command(after_help = atoms::EXAMPLES)]
    Atoms(AtomsArgs),
    /// Show the syntax of rules that run offline
    #[command(long_about = SYNTAX, after_help = rules::EXAMPLES)]
    Rules(RulesArgs),
    /// List the three levels and their texts
    #[command(after_help = levels::EXAMPLES)]
    Levels(LevelsArgs),
    /// Write results as one page for a browser, without a network
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Export results as CSV, JSON or a log of Inspect
    #[command(after_help = export::EXAMPLES)]
    Export(ExportArgs),
    /// Compare a run with an earlier one
    ///
    /// The exit code is 4 if it is worse by more than --max-drop allows.
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Rank the encoding systems of a run as a contest
    ///
    /// A system is out for a critical flag, rules that address a judge (ZG008), a low critical recall or failed experiments.
    #[command(after_help = board::EXAMPLES)]
    Board(BoardArgs),
    /// Commit to the texts of a contest
    ///
    /// The commitment is published before the systems are handed in, the seal and the texts after that.
    #[command(after_help = seal::EXAMPLES)]
    Seal(SealArgs),
    /// Serve measures to models of other programs over MCP
    ///
    /// The tools `lint`, `score` and `compare_texts` read no file, ask no judge, and keep nothing between two calls.
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(McpFlags),
    /// Let a person score pairs of texts
    ///
    /// Shown are the original and the decoded text, and nothing about encoding systems, models and scores. Each answer is on the
    /// disk before the next pair. The same command continues.
    #[command(after_help = label::EXAMPLES)]
    Label(LabelArgs),
    /// Compare the judge of a run with labels of people
    ///
    /// Agreement, bias, and mean points for the meaning that are corrected by the labels. No score of the run changes.
    #[command(after_help = calibrate::EXAMPLES, args_conflicts_with_subcommands = true)]
    Calibrate(CalibrateArgs),
    /// Count the calls of a run and their highest cost
    ///
    /// Nothing is sent.
    #[command(after_help = estimate::EXAMPLES)]
    Estimate(EstimateArgs),
    /// Run all levels offline and write the page
    #[command(after_help = demo::EXAMPLES)]
    Demo(DemoArgs),
}

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Run(args) => run::execute(args, session),
        Command::Matrix(args) => matrix::execute(args, session),
        Command::Resume(args) => resume::execute(args, session),
        Command::Rescore(args) => rescore::execute(args, session),
        Command::Score(args) => score::execute(args, session),
        Command::Lint(args) => lint::execute(args, session),
        Command::Atoms(args) => atoms::execute(args, session),
        Command::Rules(args) => rules::execute(args, session),
        Command::Levels(args) => levels::execute(args, session),
        Command::Report(args) => report::execute(args, session),
        Command::Export(args) => export::execute(args, session),
        Command::Compare(args) => compare::execute(args, session),
        Command::Board(args) => board::execute(args, session),
        Command::Seal(args) => seal::execute(args, session),
        Command::Mcp(flags) => mcp::execute(flags, session),
        Command::Label(args) => label::execute(args, session),
        Command::Calibrate(args) => calibrate::execute(args, session),
        Command::Estimate(args) => estimate::execute(args, session),
        Command::Status(args) => status::execute(args, session),
        Command::Demo(args) => demo::execute(args, session),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_help_has_its_form_and_examples_that_parse() {
        test_support::check_help(&bin_support::command::<Cli>());
    }
}
