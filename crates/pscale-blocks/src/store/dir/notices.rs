use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A function that receives each notice.
pub type NoticeSink = Box<dyn Fn(&str) + Send + Sync>;

/// The findings and repairs of a store, for a person, one line each and none twice.
#[derive(Default)]
pub(super) struct Notices {
    lines: Vec<String>,
    /// The logs with lines that cannot be read.
    damaged: BTreeSet<PathBuf>,
    sink: Option<NoticeSink>,
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.fmt(f)
    }
}

impl Notices {
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    pub fn push(&mut self, line: String) {
        if self.lines.contains(&line) {
            return;
        }
        if let Some(sink) = &self.sink {
            sink(&line);
        }
        self.lines.push(line);
    }

    /// Whether this is the first notice about the lines of this file: there is one for each.
    pub fn is_first_about(&mut self, path: &Path) -> bool {
        self.damaged.insert(path.to_owned())
    }

    /// Hands all notices to `sink`, those so far at once.
    pub fn send_to(&mut self, sink: NoticeSink) {
        self.lines.iter().for_each(|line| sink(line));
        self.sink = Some(sink);
    }
}
