//! Any order of the steps of three workers over five jobs, on the real tables and on a model in memory.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use work_queue::{Group, JobState, Output, Steps, Stored, Work};

use crate::scene::Scene;
use crate::scripted::Scripted;

/// The inputs: two shards, and three single jobs.
const INPUTS: [&str; 5] = [
    "echo 1;echo 2;echo 3",
    "echo 4;echo 5",
    "echo 6",
    "echo 7",
    "echo 8",
];

const WORKERS: usize = 3;

/// A step of a worker. Jobs are numbered, the pieces of split ones from 5 on.
#[derive(Debug, Clone, Copy)]
enum Step {
    Deliver {
        worker: usize,
        job: usize,
    },
    Die {
        worker: usize,
    },
    /// `lies` is rare, so that most runs end without a conflict.
    Finish {
        worker: usize,
        lies: bool,
        is_comparable: bool,
    },
    /// The answer to the last finish was lost.
    Repeat {
        worker: usize,
    },
    Split {
        worker: usize,
    },
    Quarantine {
        worker: usize,
    },
    GiveBack {
        worker: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let worker = || 0..WORKERS;
    let often = |part: u32| (0..10_u32).prop_map(move |n| n < part);
    prop_oneof![
        6 => (worker(), 0..10_usize).prop_map(|(worker, job)| Step::Deliver { worker, job }),
        1 => worker().prop_map(|worker| Step::Die { worker }),
        6 => (worker(), often(1), often(9)).prop_map(|(worker, lies, is_comparable)| Step::Finish { worker, lies, is_comparable }),
        2 => worker().prop_map(|worker| Step::Repeat { worker }),
        2 => worker().prop_map(|worker| Step::Split { worker }),
        1 => worker().prop_map(|worker| Step::Quarantine { worker }),
        1 => worker().prop_map(|worker| Step::GiveBack { worker }),
    ]
}

/// A first result: its bytes, whether they are comparable, and the delivery that gave it.
type First = (String, bool, (usize, i32));

/// A job as it should be.
#[derive(Debug, Default, Clone)]
struct Job {
    state: Option<JobState>,
    deliveries: i32,
    first: Option<First>,
    late: i64,
    conflicts: i64,
}

impl Job {
    fn state(&self) -> JobState {
        self.state.unwrap_or(JobState::Open)
    }

    /// The outcome that a result should have.
    fn finish(&mut self, output: &str, is_comparable: bool, by: (usize, i32)) -> Stored {
        match (self.state(), &self.first) {
            (JobState::Open, _) => {
                self.first = Some((output.to_owned(), is_comparable, by));
                self.state = Some(JobState::Done);
                Stored::First
            }
            (JobState::Done, Some((_, _, first))) if *first == by => Stored::First,
            (JobState::Done, Some((bytes, comparable, _)))
                if bytes == output || !comparable || !is_comparable =>
            {
                self.late += 1;
                Stored::Late
            }
            (JobState::Done, _) => {
                self.state = Some(JobState::Conflict);
                self.conflicts += 1;
                Stored::Conflict
            }
            _ => Stored::Dropped,
        }
    }
}

/// A delivery at hand: the input of the job and the number.
type Held = (String, i32);

/// A finish whose answer may be asked for again: input, number, bytes, comparable.
type Last = (String, i32, String, bool);

/// The model and the tables of one case.
struct Case<'a> {
    scene: &'a Scene,
    group: Group,
    workers: &'a [Steps],
    work: &'a Scripted,
    jobs: BTreeMap<String, Job>,
    order: Vec<String>,
    held: [Option<Held>; WORKERS],
    last: [Option<Last>; WORKERS],
}

impl Case<'_> {
    fn key(&self, input: &str) -> String {
        self.group.key(input.as_bytes())
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Deliver { worker, job } => self.deliver(worker, job).await,
            Step::Die { worker } => self.held[worker] = None,
            Step::Finish {
                worker,
                lies,
                is_comparable,
            } => self.finish(worker, lies, is_comparable).await,
            Step::Repeat { worker } => {
                if let Some(last) = self.last[worker].clone() {
                    self.store(worker, last).await;
                }
            }
            Step::Split { worker } => self.split(worker).await,
            Step::Quarantine { worker } => {
                if let Some((input, _)) = self.held[worker].take() {
                    self.workers[worker]
                        .quarantine(&self.key(&input), "as the step says")
                        .await
                        .unwrap();
                    let job = self.jobs.get_mut(&input).unwrap();
                    job.state.get_or_insert(JobState::Aside);
                }
            }
            Step::GiveBack { worker } => {
                if let Some((input, _)) = self.held[worker].take() {
                    self.workers[worker]
                        .take_back(&[self.key(&input)])
                        .await
                        .unwrap();
                    let job = self.jobs.get_mut(&input).unwrap();
                    if job.state() == JobState::Open {
                        job.deliveries = (job.deliveries - 1).max(0);
                    }
                }
            }
        }
    }

    async fn deliver(&mut self, worker: usize, job: usize) {
        let Some(input) = self.order.get(job).cloned() else {
            return;
        };
        let delivered = self.workers[worker]
            .deliver(&self.key(&input))
            .await
            .unwrap();
        let job = self.jobs.get_mut(&input).unwrap();
        let expected = (job.state() == JobState::Open).then(|| {
            job.deliveries += 1;
            job.deliveries
        });
        assert_eq!(delivered.as_ref().map(|it| it.number), expected, "{input}");
        if let Some(delivered) = delivered {
            assert_eq!(delivered.input, input.as_bytes());
            self.held[worker] = Some((input, delivered.number));
        }
    }

    async fn finish(&mut self, worker: usize, lies: bool, is_comparable: bool) {
        if let Some((input, number)) = self.held[worker].take() {
            let bytes = if lies {
                format!("{input}, says {worker}")
            } else {
                input.clone()
            };
            self.store(worker, (input, number, bytes, is_comparable))
                .await;
        }
    }

    async fn store(&mut self, worker: usize, last: Last) {
        let (input, number, bytes, is_comparable) = last.clone();
        let mut output = Output::new(bytes.clone());
        output.comparable = is_comparable;
        let stored = self.workers[worker]
            .finish(&self.key(&input), number, &output)
            .await
            .unwrap();
        let job = self.jobs.get_mut(&input).unwrap();
        assert_eq!(
            stored,
            job.finish(&bytes, is_comparable, (worker, number)),
            "{input}"
        );
        self.last[worker] = Some(last);
    }

    async fn split(&mut self, worker: usize) {
        let Some((input, _)) = self.held[worker].clone() else {
            return;
        };
        let pieces = self.work.split(input.as_bytes());
        if pieces.len() < 2 {
            return;
        }
        self.held[worker] = None;
        self.workers[worker]
            .split(&self.group, &self.key(&input), &pieces)
            .await
            .unwrap();
        let job = self.jobs.get_mut(&input).unwrap();
        if job.state() == JobState::Open {
            job.state = Some(JobState::Split);
            for piece in pieces {
                let piece = String::from_utf8(piece).unwrap();
                self.order.push(piece.clone());
                self.jobs.insert(piece, Job::default());
            }
        }
    }

    /// Compares every row with the model.
    async fn compare(&self) {
        let rows = self.scene.queue.jobs(&self.group).await.unwrap();
        assert_eq!(rows.len(), self.jobs.len());
        for row in rows {
            let input = String::from_utf8(row.input).unwrap();
            let job = &self.jobs[&input];
            assert_eq!(
                (row.state, row.deliveries),
                (job.state(), job.deliveries.unsigned_abs()),
                "{input}"
            );
            let key = &row.key;
            for (table, expected) in [
                ("results", i64::from(job.first.is_some())),
                ("late", job.late),
                ("conflicts", job.conflicts),
            ] {
                let count = format!("SELECT count(*) FROM work_queue.{table} WHERE key = '{key}'");
                assert_eq!(
                    self.scene.number(&count).await,
                    expected,
                    "{table} of {input}"
                );
            }
            // The engine has a row for each job that is open; that of one with an end does nothing.
            let missing = format!(
                "SELECT count(*) FROM work_queue.work w WHERE key = '{key}' AND state = 0
                AND NOT EXISTS (SELECT FROM graphile_worker._private_jobs j WHERE j.key = w.key)"
            );
            assert_eq!(self.scene.number(&missing).await, 0);
        }
    }
}

async fn run(scene: &Scene, workers: &[Steps], work: &Scripted, number: usize, steps: &[Step]) {
    let group = Group::of(work, &format!("case {number}")).unwrap();
    let inputs = INPUTS.map(|input| input.as_bytes().to_vec());
    scene.queue.submit(&group, &inputs).await.unwrap();
    let jobs = INPUTS
        .map(|input| (input.to_owned(), Job::default()))
        .into();
    let order = INPUTS.map(str::to_owned).to_vec();
    let mut case = Case {
        scene,
        group,
        workers,
        work,
        jobs,
        order,
        held: Default::default(),
        last: Default::default(),
    };
    for step in steps {
        case.step(*step).await;
    }
    // What is still open is done by one worker; then each law has its one answer.
    for index in 0..INPUTS.len() + 10 {
        case.step(Step::Deliver {
            worker: 0,
            job: index,
        })
        .await;
        case.step(Step::Finish {
            worker: 0,
            lies: false,
            is_comparable: true,
        })
        .await;
    }
    assert!(case.jobs.values().all(|job| job.state() != JobState::Open));
    case.compare().await;
    scene.queue.complete(&case.group).await.unwrap();
}

fn interleave(cases: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let work = Scripted::new("s");
    let Some(scene) = runtime.block_on(Scene::new(&*work)) else {
        return;
    };
    let names = ["one", "two", "three"];
    let workers = names.map(|name| runtime.block_on(Steps::open(&scene.address, name)).unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let number = std::cell::Cell::new(0);
    let ran = runner.run(&vec(step(), 0..40), |steps| {
        number.set(number.get() + 1);
        runtime.block_on(run(&scene, &workers, &work, number.get(), &steps));
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn every_order_of_40_cases_ends_with_one_answer_each() {
    interleave(40);
}

#[test]
#[ignore = "long: 1000 cases"]
fn every_order_of_1000_cases_ends_with_one_answer_each() {
    interleave(1000);
}
