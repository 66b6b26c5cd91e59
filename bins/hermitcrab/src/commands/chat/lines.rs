//! The lines of the person, from a terminal or a pipe.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use reedline::{FileBackedHistory, Prompt, PromptEditMode, PromptHistorySearch, Reedline, Signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::data_dir::DataDir;
use crate::error::Error;

/// The longest line of a pipe, in bytes. A message may have 60,000 characters.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// The number of lines in the history of the line editor.
const MAX_REMEMBERED: usize = 1_000;

/// A line, or the reason for having none.
pub enum Line {
    Text(String),
    /// A line that is not text in UTF-8.
    NotText,
    /// The input ended, or the person pressed Ctrl-D.
    End,
    /// The person pressed Ctrl-C twice.
    Interrupted,
}

/// The reader of lines. A thread reads them, so that the program can stop waiting for a line.
pub struct Lines {
    at_terminal: bool,
    /// Requests to the thread for a line. The value says whether the person stopped the turn before it.
    asks: mpsc::Sender<bool>,
    read: UnboundedReceiver<Result<Line, Error>>,
}

impl Lines {
    pub fn open(at_terminal: bool, data: &DataDir) -> Self {
        let path = data.path().join("lines.txt");
        let (asks, asked) = mpsc::channel();
        let (lines, read) = unbounded_channel();
        thread::spawn(move || {
            let mut source = LineSource::open(at_terminal, path);
            for stopped in asked {
                if lines.send(source.next(stopped)).is_err() {
                    return;
                }
            }
        });
        Self {
            at_terminal,
            asks,
            read,
        }
    }

    /// Returns the next line. The person leaves by two Ctrl-C, or by one if another one has `stopped` the turn before.
    pub async fn next(&mut self, stopped: bool) -> Result<Line, Error> {
        // The thread lives as long as `self`.
        let _ = self.asks.send(stopped);
        self.read.recv().await.unwrap_or(Ok(Line::End))
    }
}

/// Restores the terminal if the program ends while a line is edited.
impl Drop for Lines {
    fn drop(&mut self) {
        if self.at_terminal {
            let _ = crossterm::terminal::disable_raw_mode();
        }
    }
}

enum LineSource {
    Terminal(Box<Reedline>),
    Pipe,
}

impl LineSource {
    fn open(at_terminal: bool, path: PathBuf) -> Self {
        if !at_terminal {
            return Self::Pipe;
        }
        let mut editor = Reedline::create();
        // A history that cannot be written does not prevent a conversation.
        if is_private(&path)
            && let Ok(history) = FileBackedHistory::with_file(MAX_REMEMBERED, path)
        {
            editor = editor.with_history(Box::new(history));
        }
        Self::Terminal(Box::new(editor))
    }

    fn next(&mut self, stopped: bool) -> Result<Line, Error> {
        match self {
            Self::Pipe => read_pipe(),
            Self::Terminal(editor) => read_terminal(editor, stopped),
        }
    }
}

/// Creates the file of the history for this user alone, if it does not exist. Returns whether it can be used.
///
/// A link is refused, because it leads to another file, and so is a pipe, which would block.
fn is_private(path: &Path) -> bool {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return false;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).is_ok()
}

/// Reads a line of a pipe, which is one turn.
///
/// The end of a line that is too long is skipped. A line that is not text does not end the input.
fn read_pipe() -> Result<Line, Error> {
    let failed = |source| Error::Read {
        path: "stdin".into(),
        source,
    };
    let mut input = io::stdin().lock();
    let mut bytes = Vec::new();
    (&mut input)
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut bytes)
        .map_err(failed)?;
    if bytes.is_empty() {
        return Ok(Line::End);
    }
    if bytes.len() as u64 == MAX_LINE_BYTES && !bytes.ends_with(b"\n") {
        // The rest belongs to this line and is not another message.
        input.skip_until(b'\n').map_err(failed)?;
        // The cut may be inside of a character.
        let text = String::from_utf8_lossy(&bytes);
        return Ok(Line::Text(text.into_owned()));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Line::Text(text.trim_end_matches(['\n', '\r']).to_owned()),
        Err(_) => Line::NotText,
    })
}

fn read_terminal(editor: &mut Reedline, stopped: bool) -> Result<Line, Error> {
    let mut warned = stopped;
    let mut hint = "";
    loop {
        let signal = editor
            .read_line(&LinePrompt(hint))
            .map_err(|source| Error::Read {
                path: "the terminal".into(),
                source,
            })?;
        match signal {
            Signal::Success(line) => return Ok(Line::Text(line)),
            Signal::CtrlC if !warned => {
                warned = true;
                hint = "(Ctrl-C again leaves) ";
            }
            Signal::CtrlC => return Ok(Line::Interrupted),
            _ => return Ok(Line::End),
        }
    }
}

/// The prompt `> `, after a hint that may be empty.
struct LinePrompt(&'static str);

impl Prompt for LinePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, _: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Borrowed("? ")
    }
}
