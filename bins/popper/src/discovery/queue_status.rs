//! The status of a server's queue in lines for people.

use std::fmt::Write as _;
use std::time::Duration;

use bin_support::{Failure, escape};
use work_queue::{GroupStatus, Queue, QueueError, QueueOptions, Status, WorkerStatus};

use super::database::PROGRAM;
use crate::location::ServerLocation;

/// Opens the queue of a server. `None` before the first run on it.
pub async fn open(server: &ServerLocation) -> Result<Option<Queue>, Failure> {
    let mut options = QueueOptions::new(PROGRAM);
    // A person waits for the answer.
    options.timing.patience = Duration::from_secs(5);
    match Queue::open(&server.address, &options).await {
        Ok(queue) => Ok(Some(queue)),
        Err(QueueError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the status of a queue in lines for people.
pub fn lines(status: &Status) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<11}{value}");
    };
    if status.groups.is_empty() {
        line("queue", "no jobs");
    }
    for group in &status.groups {
        line(
            "queue",
            &format!("{}: {}", escape(&group.id), group_words(group)),
        );
    }
    for worker in &status.workers {
        line("worker", &worker_words(worker));
    }
    if let Some(secs) = status.oldest_claim_secs {
        line("oldest", &format!("a job that a worker took {secs} s ago"));
    }
    if status.conflicts > 0 {
        line(
            "conflicts",
            &format!("{}; `popper queue list` shows them", status.conflicts),
        );
    }
    text
}

/// Returns the status of a queue in a few words.
pub fn summary(status: &Status) -> String {
    let open: u64 = status.groups.iter().map(|group| group.open).sum();
    let done: u64 = status.groups.iter().map(|group| group.done).sum();
    let workers = status.workers.iter().filter(|worker| worker.is_alive);
    let mut words = format!("{open} jobs open, {done} done, {} workers", workers.count());
    if status.conflicts > 0 {
        let _ = write!(words, ", {} conflicts", status.conflicts);
    }
    words
}

fn group_words(group: &GroupStatus) -> String {
    let counts = [
        (group.split, "split"),
        (group.aside, "set aside"),
        (group.conflict, "in conflict"),
        (group.audited, "audited"),
        (group.late, "late"),
    ];
    let mut words = format!("{} jobs open, {} done", group.open, group.done);
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        // Writing to a string cannot fail.
        let _ = write!(words, ", {count} {what}");
    }
    words
}

fn worker_words(worker: &WorkerStatus) -> String {
    let threads = match worker.threads {
        1 => "1 thread".to_owned(),
        some => format!("{some} threads"),
    };
    let rate = worker.finished as f64 * 60.0 / worker.age_secs.max(1) as f64;
    let life = if worker.is_alive {
        format!("has {}", worker.held)
    } else {
        "gives no sign of life".to_owned()
    };
    format!(
        "{} on {}: {threads}, {} jobs in {} s ({rate:.1} a minute), {life}; {}",
        escape(&worker.name),
        escape(&worker.host),
        worker.finished,
        worker.age_secs,
        escape(&worker.semantics),
    )
}
