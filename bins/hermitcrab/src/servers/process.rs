//! The process of a server: it has few variables, its output is limited, and it ends with all that it started.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bin_support::environment::child_environment;
use bin_support::shortened;
use hermitcrab_face::ProcessGroup;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// The most bytes that a server sends for one request.
pub const MAX_READ: usize = 4 << 20;
/// The last bytes of stderr that are kept for an error.
const LAST_WORDS: usize = 2 << 10;
/// The longest text of a server in an error, in characters.
const QUOTED: usize = 200;
/// The time in which a server that closed its output ends.
const END: Duration = Duration::from_millis(500);

/// A server that runs. It is killed when this is dropped.
pub struct ServerProcess {
    child: Child,
    group: Arc<ProcessGroup>,
    received: Arc<AtomicUsize>,
    last_words: Arc<Mutex<Vec<u8>>>,
}

impl ServerProcess {
    /// Starts a program with these arguments and variables, and returns its output and input.
    pub fn start(
        command: &[String],
        env: &[String],
    ) -> io::Result<(Self, LimitedReader, ChildStdin)> {
        let (program, arguments) =
            (command.split_first()).ok_or_else(|| io::Error::other("the command is empty"))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(child_environment(env))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (mut child, group) = ProcessGroup::spawn(&mut command)?;
        let group = Arc::new(group);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(words)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let last_words = Arc::default();
        tokio::spawn(keep_last(words, Arc::clone(&last_words)));
        let received = Arc::default();
        let reader = LimitedReader {
            output,
            received: Arc::clone(&received),
        };
        let process = Self {
            child,
            group,
            received,
            last_words,
        };
        Ok((process, reader, input))
    }

    /// Returns the processes that end with the server.
    pub fn group(&self) -> Arc<ProcessGroup> {
        self.group.clone()
    }

    /// Begins a request: what the server sends from now on counts.
    pub fn begin_request(&self) {
        self.received.store(0, Ordering::Relaxed);
    }

    /// Returns the reason why the server cannot be used any more, or `None` if it is not known.
    pub async fn reason(&mut self) -> Option<String> {
        if self.received.load(Ordering::Relaxed) >= MAX_READ {
            return Some(format!("it sent more than {} MiB", MAX_READ >> 20));
        }
        let status = timeout(END, self.child.wait()).await.ok()?.ok()?;
        let words = self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words);
        let line = words.lines().rev().find(|line| !line.trim().is_empty());
        let line = line.map(|line| format!(": {}", shortened(line.trim(), QUOTED)));
        Some(format!("it ended ({status}){}", line.unwrap_or_default()))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.group.end();
    }
}

/// Keeps the last bytes of stderr.
async fn keep_last(mut words: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut bytes = [0; LAST_WORDS];
    while let Ok(size @ 1..) = words.read(&mut bytes).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[..size]);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}

/// The output of a server. It ends where the server sent too much for one request.
pub struct LimitedReader {
    output: ChildStdout,
    received: Arc<AtomicUsize>,
}

impl AsyncRead for LimitedReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.received.load(Ordering::Relaxed) >= MAX_READ {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.output).poll_read(context, buffer))?;
        let size = buffer.filled().len() - before;
        self.received.fetch_add(size, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}
