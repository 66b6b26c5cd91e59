//! `zer0gravity board`: ranks the encoding systems of a run as a contest.

use std::fmt::Write as _;
use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Cell, Exit, Failure, Output, OutputTarget, Results, Session, Table, escape};
use zer0gravity_engine::report::{Board, board_page};
use zer0gravity_engine::run::RunView;

use crate::error::Error;
use crate::filter::EncodingFilter;
use crate::flags::share;
use crate::source::Source;
use crate::{error, output, ranking};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity board
  zer0gravity board matrix -o board.html";

#[derive(Debug, clap::Args)]
pub struct BoardArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Least mean critical recall of a ranked system, 0 to 1.
    #[arg(long, value_name = "X", value_parser = share, allow_negative_numbers = true, default_value_t = Board::MIN_CRITICAL_RECALL)]
    pub min_critical_recall: f64,
    /// Print the board as JSON.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    /// File for the page; - or none for stdout.
    #[arg(short, long, value_name = "FILE", alias = "html", num_args = 0..=1, default_missing_value = "-")]
    pub output: Option<OutputTarget>,
}

pub fn execute(args: &BoardArgs, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::find(&args.run, session)?;
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(source.files())?;
    let report = source.read(&EncodingFilter::default(), session)?;
    if report.encodings_left_out > 0 || report.results.iter().any(|one| one.outcome.is_stopped()) {
        let path = source.path().to_owned();
        return Err(Failure::usage(Error::BoardOfPart { path }));
    }
    let mut board = Board::of(&report, args.min_critical_recall);
    if source.path().is_dir() {
        let view = RunView::open(source.path()).map_err(error::directory)?;
        board.sealed = view.sealed().map(str::to_owned);
    }
    if args.json {
        output::json(Output::Stdout, &board, session)?;
    } else if args.output.is_some() {
        let html = board_page(&board).render()?;
        output.finish(session, |out| out.write_all(html.as_bytes()))?;
        if target.file().is_some() {
            writeln!(session.results, "{target}")?;
        }
    } else {
        let text = text(&board, &session.results);
        session.results.write_all(text.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The table, its ties, and the systems that are out.
fn text(board: &Board, results: &Results) -> String {
    let [name, others @ ..] = ranking::HEAD;
    let head = [&["rank", name][..], &others].concat();
    let mut table = Table::new(head).wrapping(name);
    for system in &board.systems {
        let rank = system.rank.map_or("-".to_owned(), |rank| rank.to_string());
        let cells = ranking::cells(&system.statistics).map(|cell| Cell::from(escape(&cell)));
        table.row(std::iter::once(rank.into()).chain(cells));
    }
    let mut text = if board.offline {
        "offline (scripted, no model)\n".to_owned()
    } else {
        String::new()
    };
    if !board.systems.is_empty() {
        text += &table.text(results);
    }
    for note in board.notes() {
        let _ = writeln!(text, "{}", escape(&note));
    }
    for system in &board.out {
        let (id, reasons) = (escape(&system.encoding_id), system.reasons.join("; "));
        let _ = writeln!(text, "out: {id}: {}", escape(&reasons));
    }
    if let Some(commitment) = &board.sealed {
        let _ = writeln!(text, "sealed: {}", escape(commitment));
    }
    text
}
