//! A kind of jobs whose input says what happens: pieces separated by `;`, each `echo TEXT`, `panic`, `abort`, `hang`,
//! `stubborn`, `gate`, `file PATH`, `bad`, `refuse`, `cut` or `large`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::park_timeout;
use std::time::Duration;

use work_queue::{Output, Work, WorkError};

/// The work, with what a test can see and change.
#[derive(Default)]
pub struct Scripted {
    pub semantics: String,
    /// The number of `gate` pieces that are open.
    pub gate: AtomicBool,
    /// The number of calls of `run`.
    pub runs: AtomicUsize,
    /// The number of runs that are at a piece which waits.
    pub waiting: AtomicUsize,
    /// The number of waits that began.
    pub waits: AtomicUsize,
    /// The number of the run that answers wrongly, from 1.
    pub lie_at: usize,
}

impl Scripted {
    pub fn new(semantics: &str) -> Arc<Self> {
        Arc::new(Self {
            semantics: semantics.to_owned(),
            ..Self::default()
        })
    }

    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    pub fn open_gate(&self) {
        self.gate.store(true, Ordering::SeqCst);
    }

    /// Waits until `is_over`.
    fn wait(&self, is_over: impl Fn() -> bool) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.waits.fetch_add(1, Ordering::SeqCst);
        while !is_over() {
            park_timeout(Duration::from_millis(2));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    fn piece(&self, piece: &str, stop: &(dyn Fn() -> bool + Sync)) -> Result<String, WorkError> {
        match piece.split(' ').next().unwrap_or_default() {
            "echo" => Ok(piece.to_owned()),
            "panic" => panic!("as the input says"),
            "abort" => std::process::abort(),
            "hang" => {
                self.wait(stop);
                Err(WorkError::Stopped)
            }
            "stubborn" => {
                self.wait(|| self.gate.load(Ordering::SeqCst));
                Ok(piece.to_owned())
            }
            "gate" => {
                self.wait(|| stop() || self.gate.load(Ordering::SeqCst));
                if stop() {
                    Err(WorkError::Stopped)
                } else {
                    Ok(piece.to_owned())
                }
            }
            "file" => {
                let path = Path::new(piece.trim_start_matches("file "));
                self.wait(|| stop() || path.exists());
                if stop() {
                    Err(WorkError::Stopped)
                } else {
                    Ok(piece.to_owned())
                }
            }
            "bad" => Err(WorkError::Input("the input says that it is bad".to_owned())),
            "refuse" => Err(WorkError::Refused {
                expected: "world B".to_owned(),
                found: "world A".to_owned(),
            }),
            "large" => Ok("x".repeat((64 << 20) + 1)),
            _ => Err(WorkError::Input(format!("unknown piece {piece:?}"))),
        }
    }
}

impl Work for Scripted {
    fn kind(&self) -> &'static str {
        "scripted"
    }

    fn semantics(&self) -> &str {
        &self.semantics
    }

    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let input = String::from_utf8_lossy(input);
        let pieces: Result<Vec<_>, _> = input
            .split(';')
            .map(|piece| self.piece(piece, stop))
            .collect();
        let mut text = pieces?.join(";");
        if run == self.lie_at {
            text.push_str(" (a lie)");
        }
        let mut output = Output::new(text);
        output.meta = format!("run {run}");
        Ok(output)
    }

    fn split(&self, input: &[u8]) -> Vec<Vec<u8>> {
        input
            .split(|byte| *byte == b';')
            .map(<[u8]>::to_vec)
            .collect()
    }
}
