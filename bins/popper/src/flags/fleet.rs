//! The flags of the work on many machines.

use std::thread::available_parallelism;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use jiff::SignedDuration;
use work_queue::Timing;

/// The most laws that a process decides at once.
pub const MOST_THREADS: u64 = 1024;

/// The flags of a process that hands laws out to workers.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct FleetFlags {
    /// Laws to decide at once in this process, each on one thread; with --store also 0, so that only workers decide
    /// [default: the number of processors].
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = RangedU64ValueParser::<usize>::new().range(0..=MOST_THREADS))]
    pub threads: Option<usize>,
    /// With --store: share of the workers' answers in percent that this process decides a second time, 0 to 100 [default: 1].
    #[arg(long, value_name = "PERCENT", hide_short_help = true, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub audit: Option<u8>,
    #[command(flatten)]
    pub timing: TimingFlags,
}

impl FleetFlags {
    /// Returns the number of laws to decide at once in this process.
    pub fn own_threads(&self) -> usize {
        let processors = || available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(processors)
    }

    /// Returns the first flag that says nothing where no workers are.
    pub fn for_server_only(&self) -> Option<&'static str> {
        let given = [
            ("--threads 0", self.threads == Some(0)),
            ("--audit", self.audit.is_some()),
            ("--lease", self.timing.lease.is_some()),
            ("--patience", self.timing.patience.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, is_given)| *is_given);
        given.next().map(|(flag, _)| flag)
    }
}

/// The times that all processes of a database share.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct TimingFlags {
    /// With --store: time without a sign of life after which a worker's jobs go to others, 1s to 1h, the same in all
    /// processes [default: 30s].
    #[arg(long, value_name = "TIME", hide_short_help = true, value_parser = lease)]
    pub lease: Option<Duration>,
    /// With --store: time to wait for a server that cannot be reached, 0s to 24h [default: 10min].
    #[arg(long, value_name = "TIME", hide_short_help = true, value_parser = patience)]
    pub patience: Option<Duration>,
}

impl TimingFlags {
    /// Returns the times; the random part of waits differs between processes.
    pub fn timing(&self) -> Timing {
        let mut timing = Timing::default();
        timing.lease = self.lease.unwrap_or(timing.lease);
        timing.patience = self.patience.unwrap_or(timing.patience);
        timing.seed = u64::from(std::process::id());
        timing
    }
}

fn lease(text: &str) -> Result<Duration, String> {
    duration(text, Duration::from_secs(1), Duration::from_hours(1))
}

fn patience(text: &str) -> Result<Duration, String> {
    duration(text, Duration::ZERO, Duration::from_hours(24))
}

/// The limit of a job.
pub fn job_limit(text: &str) -> Result<Duration, String> {
    duration(text, Duration::from_secs(1), Duration::from_hours(24))
}

/// Reads a time such as `30s`, `10min` or `1h`.
fn duration(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let form = || format!("expected a time such as 30s, 10min or 1h, from {least:?} to {most:?}");
    let read: SignedDuration = text.parse().map_err(|_| form())?;
    let read = Duration::try_from(read).map_err(|_| form())?;
    if (least..=most).contains(&read) {
        Ok(read)
    } else {
        Err(form())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_ranges() {
        assert_eq!(lease("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(patience("10min"), Ok(Duration::from_mins(10)));
        assert_eq!(patience("0s"), Ok(Duration::ZERO));
        assert_eq!(job_limit("1h 30m"), Ok(Duration::from_mins(90)));
        for wrong in ["", "30", "-1s", "0.5s", "61min", "soon"] {
            let error = lease(wrong).unwrap_err();
            assert!(error.contains("from 1s to 3600s"), "{wrong}: {error}");
        }
    }
}
