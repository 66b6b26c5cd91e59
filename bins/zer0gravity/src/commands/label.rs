//! `zer0gravity label`: a person scores pairs of original and decoded text, in the terminal or in a sheet.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bin_support::output::ensure_not_input;
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, SeedFlag, Session, escape};
use clap::builder::NonEmptyStringValueParser;
use llm_client::SystemClock;
use zer0gravity_engine::calibration::{
    LABEL_SCHEMA_VERSION, Label, LabelError, Labels, TextPair, draw, pairs, read_sheet, sheet,
    time_of_day,
};
use zer0gravity_engine::prompts::SEMANTIC_JUDGE;
use zer0gravity_engine::run::{DirectoryError, LabelFile};

use crate::filter::EncodingFilter;
use crate::source::Source;
use crate::{calibrated, error, run_dir, selection};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  echo 40 | zer0gravity label matrix --rater ada
  zer0gravity label matrix --export sheet.csv --n 50";

/// The longest line of an answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

#[derive(Debug, clap::Args)]
pub struct LabelArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// File of the labels.
    #[arg(long, value_name = "FILE", default_value = "labels.jsonl")]
    pub labels: PathBuf,
    /// Name of the person who scores; with --export, leaves out the pairs that this person answered [default: rater-1].
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub rater: Option<String>,
    /// Number of pairs, from the start of the random order [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub n: Option<u32>,
    /// File for a sheet with the pairs, as CSV; - for stdout.
    #[arg(long, value_name = "FILE", conflicts_with = "import")]
    pub export: Option<OutputTarget>,
    /// Filled sheet whose scores become labels.
    #[arg(long, value_name = "FILE", requires = "rater", conflicts_with = "n")]
    pub import: Option<PathBuf>,
    #[command(flatten)]
    pub seed: SeedFlag,
}

/// The reason why pairs cannot be labelled.
#[derive(Debug, thiserror::Error)]
enum LabelFault {
    #[error("{0}: no result has a score and a decoded text, so there is no pair to label")]
    NoPairs(String),
    #[error("{path}: bad lines: {lines}; correct the sheet, nothing was imported")]
    Sheet { path: String, lines: usize },
    #[error("{0}: no row has a score; fill in the column `score`")]
    NoScore(String),
    #[error(
        "{0}: another process is writing labels; wait until it ends, or name another file with --labels"
    )]
    InUse(String),
    /// A line of a sheet, which is reported before.
    #[error("{path}: {error}")]
    Row { path: String, error: LabelError },
}

pub fn execute(args: &LabelArgs, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::find(&args.run, session)?;
    let pairs = pairs(&source.read(&EncodingFilter::default(), session)?.results);
    if pairs.is_empty() {
        return Err(Failure::usage(LabelFault::NoPairs(shown(source.path()))));
    }
    let drawn = draw(&pairs, args.seed.seed).into_iter();
    let count = args.n.map_or(pairs.len(), |n| n as usize);
    let mut drawn: Vec<&TextPair> = drawn.take(count).map(|place| &pairs[place]).collect();
    let rater = args.rater.as_deref().unwrap_or("rater-1");
    if let Some(target) = &args.export {
        let inputs = source.files().into_iter().chain([args.labels.clone()]);
        let output = target.begin(inputs)?;
        if args.rater.is_some() && args.labels.exists() {
            let (_, lines) = calibrated::labels(&args.labels, session)?;
            let known = Labels::of(&lines);
            drawn.retain(|pair| known.answer(&pair.id, rater).is_none());
        }
        let text = sheet(drawn.iter().copied());
        output.finish(session, |out| out.write_all(text.as_bytes()))?;
        if target.file().is_some() {
            session.status(&format!("{} pairs in {target}", drawn.len()));
        }
        return Ok(Exit::Done);
    }
    let read = args.import.iter().cloned();
    ensure_not_input(&args.labels, source.files().into_iter().chain(read))?;
    let imported = args.import.as_ref();
    let imported = imported.map(|path| sheet_answers(path, &drawn, &pairs, session));
    let imported = imported.transpose()?;
    let mut file = open(&args.labels, session)?;
    match imported {
        Some(answers) => {
            let known = Labels::of(file.labels());
            // A cell without points replaces no answer.
            let is_new = |label: &Label| {
                let old = known.answer(&label.pair_id, rater);
                old.is_none_or(|old| {
                    label.score.is_some() && (old.score, old.seed) != (label.score, label.seed)
                })
            };
            let answers = answers.into_iter();
            let answers = answers
                .map(|(place, score)| label(drawn[place], rater, place, score, args.seed.seed));
            let new: Vec<Label> = answers.filter(is_new).collect();
            session.status(&format!("{} new labels", new.len()));
            file.append(new).map_err(error::directory)?;
        }
        None => ask(&drawn, rater, args.seed.seed, &mut file, session)?,
    }
    let labels = Labels::of(file.labels());
    let random = labels.random(&pairs);
    let is_other =
        |pair: &&TextPair| labels.scored(&pair.id).next().is_some() && !random.contains(&*pair.id);
    let others = pairs.iter().filter(is_other).count();
    if others > 0 {
        session.warn(&format!(
            "{others} labelled pairs are not the first ones of the order of a --seed: they correct no mean"
        ));
    }
    let is_scored = |pair: &&TextPair| {
        let answer = labels.answer(&pair.id, rater);
        answer.is_some_and(|label| label.score.is_some())
    };
    session.status(&format!(
        "{} of {} pairs labelled by {}; compare with: zer0gravity calibrate {} --labels {}",
        pairs.iter().filter(is_scored).count(),
        pairs.len(),
        escape(rater),
        run_dir::shell_word(source.path()),
        run_dir::shell_word(&args.labels),
    ));
    Ok(Exit::Done)
}

fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}

/// The file of labels, with a notice if its last line was incomplete.
fn open(path: &Path, session: &Session) -> Result<LabelFile, Failure> {
    let file = LabelFile::open(path).map_err(|error| match error {
        DirectoryError::InUse { .. } => Failure::usage(LabelFault::InUse(shown(path))),
        other => error::directory(other),
    })?;
    let torn = file.torn_bytes();
    if torn > 0 {
        let path = shown(path);
        session.warn(&format!(
            "{path}: removed an incomplete last line of {torn} bytes"
        ));
    }
    Ok(file)
}

/// The answer for the pair at a place of the random order.
fn label(pair: &TextPair, rater: &str, place: usize, score: Option<u8>, seed: u64) -> Label {
    Label {
        schema_version: LABEL_SCHEMA_VERSION,
        pair_id: pair.id.clone(),
        rater: rater.to_owned(),
        score,
        skipped: score.is_none(),
        seed,
        ordinal: place + 1,
        at: time_of_day(&SystemClock::new()),
    }
}

/// Asks for the pairs that the rater has not answered. Each answer is on the disk before the next question.
fn ask(
    drawn: &[&TextPair],
    rater: &str,
    seed: u64,
    file: &mut LabelFile,
    session: &mut Session,
) -> Result<(), Failure> {
    let known = Labels::of(file.labels());
    let is_open = |(_, pair): &(usize, &&TextPair)| known.answer(&pair.id, rater).is_none();
    let open: Vec<_> = drawn.iter().enumerate().filter(is_open).collect();
    // The scale that the judge gets.
    let anchors = SEMANTIC_JUDGE.lines().filter(|line| line.starts_with("- "));
    let anchors: Vec<&str> = anchors.collect();
    writeln!(session.results, "{}", anchors.join("\n"))?;
    let mut at = 0;
    while let Some(&(place, pair)) = open.get(at) {
        show(pair, at + 1, open.len(), session)?;
        let score = match answer(session)? {
            Answer::Score(score) => Some(score),
            Answer::Skip => None,
            Answer::Back => {
                at = at.saturating_sub(1);
                continue;
            }
            Answer::Quit => break,
        };
        let label = label(pair, rater, place, score, seed);
        file.append(vec![label]).map_err(error::directory)?;
        at += 1;
    }
    Ok(())
}

/// The answers of a filled sheet: places of the random order with points, or with `None` for a skip.
fn sheet_answers(
    path: &Path,
    drawn: &[&TextPair],
    pairs: &[TextPair],
    session: &Session,
) -> Result<Vec<(usize, Option<u8>)>, Failure> {
    let bytes = selection::read(path).map_err(Failure::usage)?;
    let path = escape(&selection::name(path));
    let rows = read_sheet(&bytes, pairs).map_err(|errors| {
        let lines = errors.len();
        for error in errors {
            let path = path.clone();
            session.report(&LabelFault::Row { path, error });
        }
        let path = path.clone();
        Failure::usage(LabelFault::Sheet { path, lines })
    })?;
    if rows.is_empty() {
        return Err(Failure::usage(LabelFault::NoScore(path)));
    }
    let places = drawn.iter().enumerate();
    let places: HashMap<&str, usize> = places.map(|(place, pair)| (&*pair.id, place)).collect();
    let answer = |(id, score): (String, Option<u8>)| (places[&*id], score);
    Ok(rows.into_iter().map(answer).collect())
}

/// Shows the texts of a pair, and nothing about where they are from.
fn show(pair: &TextPair, number: usize, all: usize, session: &mut Session) -> io::Result<()> {
    writeln!(session.results, "\npair {number} of {all}")?;
    for (name, text) in [("ORIGINAL", &*pair.original), ("DECODED", &pair.decoded)] {
        writeln!(session.results, "\n{name}")?;
        let mut out = session.results.untrusted();
        writeln!(out, "{text}")?;
        out.flush()?;
    }
    writeln!(session.results)
}

/// An answer in the terminal.
enum Answer {
    Score(u8),
    Skip,
    Back,
    Quit,
}

/// Asks until the answer can be read. The end of stdin is a quit.
fn answer(session: &mut Session) -> io::Result<Answer> {
    loop {
        write!(session.results, "0-40, s skip, b back, q quit: ")?;
        session.results.flush()?;
        let mut line = Vec::new();
        let mut stdin = io::stdin().lock().take(LONGEST_ANSWER);
        stdin.read_until(b'\n', &mut line)?;
        let text = String::from_utf8_lossy(&line);
        match text.trim() {
            "s" => return Ok(Answer::Skip),
            "b" => return Ok(Answer::Back),
            "q" => return Ok(Answer::Quit),
            _ if line.is_empty() => {
                writeln!(session.results)?;
                return Ok(Answer::Quit);
            }
            score => match score.parse() {
                Ok(score @ 0..=40) => return Ok(Answer::Score(score)),
                _ => writeln!(
                    session.results,
                    "expected a whole number from 0 to 40, s, b or q"
                )?,
            },
        }
    }
}
