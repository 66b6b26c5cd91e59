//! Where the person's lines come from.

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

/// The longest line of a pipe in bytes. A message may have 60,000 characters.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// How many lines are remembered.
const MAX_REMEMBERED: usize = 1_000;

/// A line, or that there is none.
pub enum Line {
    Text(String),
    /// A line that is no text.
    NotText,
    /// The end of the input, or Ctrl-D.
    End,
    /// Ctrl-C twice.
    Interrupted,
}

/// The person's lines. A thread reads them, so that waiting for one can be given up.
pub struct Lines {
    at_terminal: bool,
    /// Asks the thread for a line; whether a turn was stopped before it.
    asks: mpsc::Sender<bool>,
    read: UnboundedReceiver<Result<Line, Error>>,
}

impl Lines {
    pub fn open(at_terminal: bool, data: &DataDir) -> Self {
        let path = data.path().join("lines.txt");
        let (asks, asked) = mpsc::channel();
        let (tell, read) = unbounded_channel();
        thread::spawn(move || {
            let mut source = LineSource::open(at_terminal, path);
            for stopped in asked {
                if tell.send(source.next(stopped)).is_err() {
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

    /// The next line. Ctrl-C leaves when it is pressed twice, or once after it has `stopped` a turn.
    pub async fn next(&mut self, stopped: bool) -> Result<Line, Error> {
        // The thread lives as long as this does.
        let _ = self.asks.send(stopped);
        self.read.recv().await.unwrap_or(Ok(Line::End))
    }
}

/// Gives the terminal back as it was, where the program ends while a line is edited.
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
        // Lines that cannot be remembered are no reason not to talk.
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

/// Makes the file of remembered lines for this user alone, if it is not there yet. A link leads to another file, and a pipe
/// would be waited for: neither is one.
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

/// One line is one turn: of a line that is too long the rest is passed over, and one that is no text fails alone.
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
        // The rest belongs to this line, which is too long, and is no message of its own.
        input.skip_until(b'\n').map_err(failed)?;
        // It may be cut inside of a letter.
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

/// A hint, if there is one, and `> `.
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
