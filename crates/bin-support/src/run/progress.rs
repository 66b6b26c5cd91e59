use std::borrow::Cow;
use std::io::{self, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use tracing_subscriber::fmt::MakeWriter;

/// Progress bars on stderr, hidden if stderr is not a terminal or with `--quiet`.
#[derive(Debug, Clone)]
pub struct Progress(MultiProgress);

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        Self(MultiProgress::with_draw_target(target))
    }

    /// A bar that counts up to `len` and disappears when it is dropped.
    pub fn bar(&self, label: impl Into<Cow<'static, str>>, len: usize) -> ProgressBar {
        let bar = ProgressBar::new(len as u64)
            .with_style(styled("{msg} {wide_bar} {pos}/{len} {eta}"))
            .with_message(label)
            .with_finish(ProgressFinish::AndClear);
        self.0.add(bar)
    }

    /// Lines that the caller sets as one message; they are drawn in place of the former ones, and disappear when dropped.
    pub fn lines(&self) -> ProgressBar {
        let lines = ProgressBar::no_length()
            .with_style(styled("{msg}"))
            .with_finish(ProgressFinish::AndClear);
        self.0.add(lines)
    }

    /// Hides the bars while `write` uses the terminal.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

#[expect(
    clippy::expect_used,
    reason = "each template is a constant and the test below parses it"
)]
fn styled(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a valid template")
}

/// Writes log lines to stderr without breaking the bars.
impl<'a> MakeWriter<'a> for Progress {
    type Writer = LogWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LogWriter(self)
    }
}

pub struct LogWriter<'a>(&'a Progress);

impl Write for LogWriter<'_> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate is where the binaries' stderr is opened"
    )]
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(line))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_bar_counts_and_shows_nothing() {
        let bar = Progress::new(true).bar("laws", 3);
        bar.inc(2);
        assert!(bar.is_hidden());
        assert_eq!((bar.position(), bar.length()), (2, Some(3)));
        assert!(Progress::new(true).lines().is_hidden());
    }
}
