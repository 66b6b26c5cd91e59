//! `popper`: laws about a universe, proposed and put to the test, on the command line.
//!
//! ```sh
//! popper new law -o law.json          # a valid example to change
//! popper check law.json               # PASS, FAIL with a counterexample, or UNKNOWN
//! popper run --iterations 5           # propose and test laws, with a model or without
//! ```
//!
//! `popper --help` lists the commands. The guide is `docs/popper.md` in the repository.

mod commands;
mod config;
mod discovery;
mod episode;
mod error;
mod examples;
mod expect;
mod explain;
mod flags;
mod input;
mod json;
mod laws;
mod location;
mod quantities;
mod stated;
mod table;
mod tools;
mod trace;
mod universe;

use std::process::ExitCode;

use bin_support::demo::DemoArgs;
use bin_support::{DefaultPath, Exit, Failure, Program, Session, block_on};
use clap::ArgMatches;

use commands::{
    check, conserved, demo, estimate, export, lab, mcp, new, queue, report, resume, retest, run,
    simulate, status, verify, worker,
};

fn main() -> ExitCode {
    bin_support::run(execute)
}

/// Refute or prove laws about a universe, or say why neither
#[derive(Debug, clap::Parser)]
#[command(name = "popper", version, after_help = examples::PROGRAM)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

impl Program for Cli {
    const RARE: &'static [&'static str] = &["queue", "retest", "worker"];

    fn places(_: &ArgMatches) -> Result<Vec<DefaultPath>, Failure> {
        Ok(discovery::places())
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Decide laws: PASS, FAIL or UNKNOWN
    ///
    /// FAIL has the smallest counterexample, UNKNOWN the reason.
    /// A refuted law is a result: the exit code stays 0. A law that cannot be read is named on stderr, the others are still
    /// decided, and the exit code is 3 (2 if no law could be read at all).
    #[command(after_help = examples::CHECK)]
    Check(check::CheckArgs),
    /// Explain verdicts: what refutes a law, or what proves it
    ///
    /// Of a counterexample the claim, the refutation in one sentence, and the run with the values that the claim names; of a proof its
    /// steps in words.
    #[command(after_help = examples::EXPLAIN)]
    Explain(commands::explain::ExplainArgs),
    /// Print an example to start from: a law or a universe
    #[command(subcommand, after_help = examples::NEW)]
    New(new::NewArgs),
    /// Print the states of a simulation, one for each step
    #[command(after_help = examples::SIMULATE)]
    Simulate(simulate::SimulateArgs),
    /// Check proofs and counterexamples again from their file
    ///
    /// Exit code 4 if one does not hold. Of a counterexample, the start, the horizon, `t_fail`, the witness and the excerpt are derived
    /// again; whether a smaller one exists takes a new `check`. Of a verdict it is also checked that the evidence is about its law
    /// and its universe.
    #[command(alias = "replay", after_help = examples::VERIFY)]
    Verify(verify::VerifyArgs),
    /// Show, check or make a universe
    #[command(subcommand, after_help = examples::UNIVERSE)]
    Universe(commands::universe::UniverseArgs),
    /// Compute the additive conserved quantities of a universe
    #[command(alias = "span", after_help = examples::CONSERVED)]
    Conserved(conserved::ConservedArgs),
    /// Seal a universe, let players explain it, score them
    #[command(subcommand, after_help = examples::LAB)]
    Lab(lab::LabArgs),
    /// Serve checks to models of other programs over MCP
    ///
    /// The tools `check`, `simulate`, `explain` and `span` read no file, and keep nothing between two calls. With --lab the server
    /// referees an episode of `popper lab`.
    #[command(after_help = examples::MCP)]
    Mcp(mcp::McpArgs),
    /// Propose and test laws: begin a run or continue one
    ///
    /// Without --run-id it is the newest run with the same universe, configuration and proposer, else a new one. Ctrl-C ends it
    /// with exit code 130; nothing that is finished is lost, whatever ends the program.
    #[command(after_help = examples::RUN)]
    Run(Box<run::RunArgs>),
    /// Continue a run that stopped, or add iterations to it
    #[command(after_help = examples::RESUME, mut_args(flags::decided))]
    Resume(Box<resume::ResumeArgs>),
    /// Print the status of a run, also while it works
    #[command(after_help = examples::STATUS)]
    Status(status::StatusArgs),
    /// Estimate the calls and the cost of a run; nothing is sent
    #[command(after_help = examples::ESTIMATE)]
    Estimate(Box<estimate::EstimateArgs>),
    /// Write a run as one page for a browser, without a network
    #[command(after_help = examples::REPORT)]
    Report(report::ReportArgs),
    /// Decide a law once more, with the next seed
    #[command(after_help = examples::RETEST, override_usage = "popper retest [OPTIONS] <LAW> [RUN]")]
    Retest(retest::RetestArgs),
    /// Export a run: every row as JSON, or one row a law as CSV
    #[command(after_help = examples::EXPORT)]
    Export(export::ExportArgs),
    /// Decide laws for the runs of a database on a server
    ///
    /// Start as many as you like, on any machine that reaches the server, and stop them at will: nothing is lost and nothing is
    /// decided twice. At Ctrl-C or SIGTERM a worker ends the laws at hand, for 30 s at most; a second one gives them back at once.
    #[command(after_help = examples::WORKER)]
    Worker(worker::WorkerArgs),
    /// List and resolve what stops the work on a server
    #[command(subcommand, after_help = examples::QUEUE)]
    Queue(queue::QueueArgs),
    /// Decide example laws and make a discovery run with a page
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Name the command that `init` is in other programs
    #[command(hide = true)]
    Init {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _words: Vec<String>,
    },
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Check(args) => check::execute(args, session),
        Command::Explain(args) => commands::explain::execute(args, session),
        Command::New(args) => new::execute(args, session),
        Command::Simulate(args) => simulate::execute(args, session),
        Command::Verify(args) => verify::execute(args, session),
        Command::Universe(args) => commands::universe::execute(args, session),
        Command::Conserved(args) => conserved::execute(args, session),
        Command::Lab(args) => lab::execute(args, session),
        Command::Mcp(args) => mcp::execute(args, session),
        Command::Run(args) => block_on(run::execute(args, session))?,
        Command::Resume(args) => block_on(resume::execute(args, session))?,
        Command::Status(args) => block_on(status::execute(args, session))?,
        Command::Estimate(args) => block_on(estimate::execute(args, session))?,
        Command::Report(args) => block_on(report::execute(args, session))?,
        Command::Retest(args) => block_on(retest::execute(args, session))?,
        Command::Export(args) => block_on(export::execute(args, session))?,
        Command::Worker(args) => block_on(worker::execute(args, session))?,
        Command::Queue(args) => block_on(queue::execute(args, session))?,
        Command::Demo(args) => block_on(demo::execute(args, session))?,
        Command::Init { .. } => Err(Failure::usage(error::Error::Init)),
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
