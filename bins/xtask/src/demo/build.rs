//! A build that shows that it is under way.

use std::io::{IsTerminal as _, stderr};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::workspace::line;

/// The time between two lines where cargo shows no bar.
const PERIOD: Duration = Duration::from_secs(20);

/// The time since an instant.
pub struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn time(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Runs a build to its end, and returns how long it took. Outside of a terminal a line says so every 20 s.
pub fn run(command: &mut Command, label: &str) -> Result<Duration, Error> {
    eprintln!("{label}: building");
    let watch = Stopwatch::start();
    let text = line(command);
    let failed = |source| Error::Start {
        command: text.clone(),
        source,
    };
    let mut process = command.spawn().map_err(failed)?;
    let has_bar = stderr().is_terminal();
    let mut next = PERIOD;
    let status = loop {
        if let Some(status) = process.try_wait().map_err(failed)? {
            break status;
        }
        if !has_bar && watch.time() >= next {
            eprintln!("{label}: building, {} s", next.as_secs());
            next += PERIOD;
        }
        thread::sleep(Duration::from_millis(20));
    };
    if !status.success() {
        return Err(Error::Ended {
            command: text,
            status,
        });
    }
    let time = watch.time();
    eprintln!("{label}: built in {} s", time.as_secs_f64().round());
    Ok(time)
}
