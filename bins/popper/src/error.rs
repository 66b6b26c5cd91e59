use std::fmt::Display;
use std::io;

use bin_support::escape;
use llm_client::Usd;
use popper_harness::law::Ambiguity;

/// The most characters of a line that are shown on either side of a mark.
const CONTEXT: usize = 60;

/// An error of an input or an output. Every message names the input or output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot read {name}")]
    Read {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("{name}: larger than {limit} MiB, the largest input; split the file")]
    TooLarge { name: String, limit: u64 },
    #[error("{name}: not UTF-8 at byte {position}; save it as UTF-8")]
    Encoding { name: String, position: usize },
    #[error("{name}: the file is empty; expected JSON")]
    Empty { name: String },
    /// `path` is a JSON path, `$` for the whole text.
    #[error("{name}: {path}: {message}")]
    Form {
        name: String,
        path: String,
        message: String,
    },
    #[error("{name}: {count} more laws cannot be read")]
    MoreLaws { name: String, count: usize },
    #[error(
        "there is no law to check: give LAWS.json, or --conserved EXPR, or --bound \"EXPR OP INT\""
    )]
    NothingToCheck,
    #[error("there is no universe {name}: give a file, or kinetic_grid, which is built in")]
    NoUniverse { name: String },
    #[error("no law could be read; the lines above say what to change")]
    NoLaws,
    #[error("the files have no law; `popper new law` writes one to start from")]
    EmptyFiles,
    #[error(
        "cannot read {name}: not a file; give an expression to --conserved, or start from the law of `popper new law`"
    )]
    NoLawFile { name: String },
    /// A text of a law that does not parse, with the line and a mark under the column.
    #[error("law {law}: {message}\n  {line}\n  {mark:>width$}", mark = '^')]
    Unread {
        law: String,
        message: String,
        line: String,
        /// The column of the mark, counted from 1.
        width: usize,
    },
    #[error("interrupted: {left} laws are not decided")]
    Interrupted { left: usize },
    #[error("{name}: the database itself, or a part of it; choose another file for the output")]
    OverDatabase { name: String },
    #[error("there is no command init\n  did you mean `popper new`?")]
    Init,
    #[error("the database has no run yet; `popper run` begins one")]
    NoRuns,
    #[error("the database has no run {asked}; its newest are {known}")]
    NoRun {
        asked: String,
        /// The newest runs with their universes.
        known: String,
    },
    #[error(
        "{flag}: --proposer enumerative asks no model; leave {flag} out, or give --proposer llm"
    )]
    Meaningless { flag: &'static str },
    #[error(
        "--proposer llm needs a model, and --provider offline asks none; give another --provider, or --proposer enumerative"
    )]
    OfflineModel,
    #[error("{name} holds runs of {universes}; give --universe FILE, or --universe {built_in}")]
    OtherUniverse {
        name: String,
        /// The ids of the universes of its runs.
        universes: String,
        built_in: &'static str,
    },
    #[error("run {run} has no law named {asked}{}", listed("; it has", candidates))]
    NoLawNamed {
        asked: String,
        run: i64,
        /// Names of laws that are like it.
        candidates: Vec<String>,
    },
    #[error("run {run} has {} laws named {asked}{}; give --law-fingerprint", candidates.len(), listed(":", candidates))]
    ManyLawsNamed {
        asked: String,
        run: i64,
        /// The beginnings of their fingerprints.
        candidates: Vec<String>,
    },
    #[error("--law-fingerprint takes 8 to 64 hexadecimal digits")]
    Fingerprint,
    #[error(
        "{count} laws have a fingerprint that begins with {asked}: {first}..; give more digits"
    )]
    AmbiguousFingerprint {
        asked: String,
        count: usize,
        /// The first of them.
        first: String,
    },
    #[error(
        "{name} has {spent} for this run, and its stored calls cost {stored}: the cap would count too little. Continue in the folder and \
         on the machine where the run began, or copy the file from there"
    )]
    OtherLedger {
        name: String,
        spent: Usd,
        stored: Usd,
    },
    #[error("there is no server to work for; give --store URL, or set POPPER_STORE")]
    NoServer,
    #[error("{flag} needs --store: without a server this process alone decides the laws")]
    NeedsServer { flag: &'static str },
    #[error(
        "--store holds a password, which other users of this machine can read; set PGPASSWORD, use the password file, or give the \
         whole address in POPPER_STORE"
    )]
    PasswordInFlag,
    #[error(
        "the open jobs need {needed}, this program computes {found}; use the program that began the run"
    )]
    OtherWork { needed: String, found: String },
    #[error("{name} exists already, and is not replaced; choose another name")]
    LabFileExists { name: String },
    #[error("no salt can be drawn: {message}; give a --seed")]
    Salt { message: String },
    /// The input is well formed and not what the command needs.
    #[error("{name}: {message}")]
    Unfit { name: String, message: String },
}

/// The words in one line, if there are any.
fn listed(lead: &str, words: &[String]) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!("{lead} {}", words.join(", "))
    }
}

impl Error {
    /// An error about a place in a JSON text. Paths and messages quote the text, so they are made escape.
    pub fn form(name: &str, path: &str, message: impl Display) -> Self {
        Self::Form {
            name: name.to_owned(),
            path: escape(path),
            message: escape(&message.to_string()),
        }
    }

    /// The text of a law that cannot be read.
    pub fn unread(law: &str, ambiguity: &Ambiguity, text: &str) -> Self {
        let before: Vec<char> = text.chars().take(ambiguity.error.column - 1).collect();
        let after = text.chars().skip(before.len());
        let start = before
            .iter()
            .rposition(|&c| c == '\n')
            .map_or(0, |at| at + 1);
        let start = start.max(before.len().saturating_sub(CONTEXT));
        let before = escape(&before[start..].iter().collect::<String>());
        let after: String = after.take_while(|&c| c != '\n').take(CONTEXT).collect();
        Self::Unread {
            law: escape(law),
            message: escape(&ambiguity.to_string()),
            width: before.chars().count() + 1,
            line: format!("{before}{}", escape(&after)),
        }
    }

    pub fn unfit(name: &str, message: impl Display) -> Self {
        Self::Unfit {
            name: name.to_owned(),
            message: escape(&message.to_string()),
        }
    }
}
