//! Two kinds of jobs: one waits, so that the work of one worker takes no processor from another; one computes.

use std::time::{Duration, Instant};

use work_queue::{Output, Work, WorkError};

/// The least number that [`Primes`] looks at: all numbers of a bench take about the same time.
const LEAST: u64 = 100_000_000;

/// Waits for a time and answers with a number of bytes. The meta text of a result is the time of the job in microseconds.
pub struct Wait;

impl Wait {
    /// The input of a job. The index tells it from others.
    pub fn input(index: usize, wait: Duration, bytes: usize) -> Vec<u8> {
        format!("{index} {} {bytes}", wait.as_micros()).into_bytes()
    }
}

impl Work for Wait {
    fn kind(&self) -> &'static str {
        "waits"
    }

    fn semantics(&self) -> &'static str {
        "waits/1"
    }

    #[expect(clippy::disallowed_methods, reason = "the time of the job is its work")]
    fn run(&self, input: &[u8], _stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let begin = Instant::now();
        let numbers = numbers(input)?;
        let [_, micros, bytes, ..] = numbers[..] else {
            return Err(WorkError::Input("three numbers are needed".to_owned()));
        };
        if micros > 0 {
            std::thread::sleep(Duration::from_micros(micros));
        }
        // Bytes that the server cannot compress.
        let bytes = (0..bytes).map(|index| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8);
        Ok(timed(bytes.collect(), begin))
    }
}

/// Counts the primes of a range.
pub struct Primes;

impl Primes {
    /// The input of a job that looks at this many numbers. The index tells it from others.
    pub fn input(index: usize, length: u64) -> Vec<u8> {
        format!("{index} {length}").into_bytes()
    }

    /// The primes of the range of a job.
    pub fn count(index: u64, length: u64) -> usize {
        let from = LEAST + index * length;
        (from..from + length)
            .filter(|number| (2..=number.isqrt()).all(|divisor| !number.is_multiple_of(divisor)))
            .count()
    }
}

impl Work for Primes {
    fn kind(&self) -> &'static str {
        "primes"
    }

    fn semantics(&self) -> &'static str {
        "primes/1"
    }

    #[expect(clippy::disallowed_methods, reason = "the time of the job is its work")]
    fn run(&self, input: &[u8], _stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let begin = Instant::now();
        let numbers = numbers(input)?;
        let [index, length, ..] = numbers[..] else {
            return Err(WorkError::Input("two numbers are needed".to_owned()));
        };
        let count = Self::count(index, length);
        Ok(timed(count.to_string().into_bytes(), begin))
    }
}

/// The numbers of an input, separated by spaces.
fn numbers(input: &[u8]) -> Result<Vec<u64>, WorkError> {
    let text = String::from_utf8_lossy(input);
    let numbers: Result<Vec<u64>, _> = text.split(' ').map(str::parse).collect();
    numbers.map_err(|error| WorkError::Input(format!("{text}: {error}")))
}

/// A result with the time since `begin`.
#[expect(clippy::disallowed_methods, reason = "the time of the job is its work")]
fn timed(bytes: Vec<u8>, begin: Instant) -> Output {
    let mut output = Output::new(bytes);
    output.meta = begin.elapsed().as_micros().to_string();
    output
}
