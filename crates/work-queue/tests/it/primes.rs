//! A second kind of work, which knows no world: prime numbers are counted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use work_queue::{Output, Work, WorkError};

use crate::child::WorkerProcess;
use crate::scene::{Scene, answer, worker_options};

/// Counts the primes of ranges: `FROM-TO`, several separated by `;`.
pub struct Primes;

fn is_prime(number: u64) -> bool {
    number > 1 && (2..=number.isqrt()).all(|divisor| !number.is_multiple_of(divisor))
}

impl Work for Primes {
    fn kind(&self) -> &'static str {
        "primes"
    }

    fn semantics(&self) -> &'static str {
        "primes/1"
    }

    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let text = String::from_utf8_lossy(input);
        let counts: Result<Vec<_>, _> = text
            .split(';')
            .map(|range| {
                let bounds = range
                    .split_once('-')
                    .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
                let (from, to): (u64, u64) =
                    bounds.ok_or_else(|| WorkError::Input(format!("{range:?} is not a range")))?;
                let count = (from..to)
                    .take_while(|_| !stop())
                    .filter(|number| is_prime(*number))
                    .count();
                if stop() {
                    Err(WorkError::Stopped)
                } else {
                    Ok(count.to_string())
                }
            })
            .collect();
        Ok(Output::new(counts?.join(";")))
    }

    fn split(&self, input: &[u8]) -> Vec<Vec<u8>> {
        input
            .split(|byte| *byte == b';')
            .map(<[u8]>::to_vec)
            .collect()
    }
}

/// Ranges of this length that begin at 0.
pub fn ranges(count: u64, length: u64) -> Vec<String> {
    (0..count)
        .map(|index| format!("{}-{}", index * length, (index + 1) * length))
        .collect()
}

#[tokio::test]
async fn workers_count_primes_and_each_answer_comes_once() {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    let ranges = ranges(20, 500);
    let inputs: Vec<_> = ranges.iter().map(String::as_str).collect();
    let keys = scene.submit(&inputs).await;
    assert_eq!(scene.submit(&inputs).await, keys);
    let mut options = worker_options("in this process");
    options.threads = 2;
    let first = scene.worker(Arc::new(Primes), options).await;
    let mut second = WorkerProcess::start_at(
        &scene.url,
        "primes",
        "another process",
        &[("CHILD_DRAIN", "1")],
    );
    let answers = scene.collect(20).await;
    let sum: usize = answers
        .values()
        .map(|outcome| answer(outcome).parse::<usize>().unwrap())
        .sum();
    assert_eq!(sum, 1229);
    assert!(second.ended().await.success());
    let served = first.stop().await;
    assert!(served.finished <= 20);
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.results")
            .await,
        20
    );
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.workers")
            .await,
        0
    );
    scene
        .reaches("SELECT count(*) FROM graphile_worker._private_jobs", 0)
        .await;
    scene.queue.complete(&scene.group).await.unwrap();
    for table in ["work", "results", "late"] {
        assert_eq!(
            scene
                .number(&format!("SELECT count(*) FROM work_queue.{table}"))
                .await,
            0
        );
    }
}

#[tokio::test]
async fn an_input_that_cannot_be_read_is_quarantined_alone() {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    scene.submit(&["0-10", "ten to twenty", "10-20"]).await;
    let worker = scene.worker(Arc::new(Primes), worker_options("a")).await;
    let ended = scene.collect(3).await;
    assert_eq!(
        [answer(&ended["0-10"]), answer(&ended["10-20"])],
        ["4", "4"]
    );
    let problem = crate::scene::problem(&ended["ten to twenty"]);
    assert_eq!(problem, "\"ten to twenty\" is not a range");
    assert_eq!(worker.stop().await.finished, 2);
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn the_crate_names_no_world_and_one_module_names_the_engine() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 15);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap().to_lowercase();
        for world in ["popper", "logosphere", "hermitcrab", "zer0"] {
            assert!(!text.contains(world), "{}: {world}", file.display());
        }
        let is_engine = file.starts_with(src.join("engine"));
        assert!(
            is_engine || !text.contains("graphile"),
            "{}",
            file.display()
        );
    }
}
