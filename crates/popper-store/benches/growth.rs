//! The speed of storing and finding decisions, while the database grows.
//!
//! `cargo bench -p orrery-popper-store --bench growth -- [ROWS] [--server]` fills a database up to ROWS attempts (default 1000000: 7.5 GB of disk
//! while it runs) and prints one JSON object. With `--server` it is one on a `PostgreSQL` server that is started for it and syncs
//! every commit. The rows are those of the real verdicts on the fixture laws, each with a different fingerprint.
//! Laws are stored 1000 at a time, as an iteration's plan; a commit holds 1000 decisions, as the loop's largest groups do.

#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark prints what it measured"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use llm_types::FixedClock;
use popper_discovery::rank::Candidate;
use popper_discovery::store::{
    AttemptFilter, CapabilityRow, DecisionRow, Iteration, IterationPlan, IterationStatus, LawRow,
    LawStatus, ModelCallRow, Query, RunRow, Store as _, TestedLaw, VerdictKey,
};
use popper_discovery::{
    Discovery, LoopConfig, MemoryStore, Proposal, ProposeError, Proposer, RunSelector, Snapshot,
    Step, StoredLaws, Unobserved,
};
use popper_harness::decide::{Config, Harness, Status};
use popper_harness::universe::KineticGrid;
use popper_store::{Access, Address, AnyDatabase, Database, Server, Tuning};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use test_support::postgres;

/// Decisions in a commit.
const GROUP: usize = 1000;
/// For a file of millions of rows.
const BULK: Tuning = Tuning::new(512, 128);
/// Fingerprints in one query.
const ASKED: usize = 1000;

/// The duration of some work in seconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
async fn seconds<T>(work: impl Future<Output = T>) -> f64 {
    let begin = std::time::Instant::now();
    work.await;
    begin.elapsed().as_secs_f64()
}

/// Processor time of the whole process in seconds, which other load on the machine moves less; 0 where the system does not say.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

struct Fixed(Vec<Candidate>);

impl Proposer for Fixed {
    fn id(&self) -> &'static str {
        "fixed"
    }

    fn propose<'a>(
        &'a self,
        _: &'a Snapshot,
        _: usize,
        _: &'a [ModelCallRow],
        _: &'a mut dyn StoredLaws,
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        let mut proposal = Proposal::default();
        proposal.candidates.clone_from(&self.0);
        Box::pin(std::future::ready(Ok(Step::Proposed(proposal))))
    }
}

/// The fixture laws with their verdicts, as a run stores them.
async fn findings() -> (RunRow, Vec<TestedLaw>) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/popper/laws");
    let laws = ["true", "false", "unknown"].iter().flat_map(|file| {
        let text = std::fs::read_to_string(format!("{root}/{file}.json")).unwrap();
        serde_json::from_str::<Vec<Value>>(&text).unwrap()
    });
    let proposer = Fixed(laws.map(Candidate::new).collect());
    let harness = Harness::new(KineticGrid, Config::default()).unwrap();
    let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH));
    let mut config = LoopConfig::default();
    config.test = 100;
    let store = MemoryStore::default();
    let mut discovery = Discovery::open(store, harness, config, "fixed", clock, RunSelector::New)
        .await
        .unwrap();
    discovery
        .run_to(1, &proposer, &mut Unobserved)
        .await
        .unwrap();
    let run = discovery.run().clone();
    let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
    (run, findings)
}

/// A database that grows.
struct Growing {
    database: AnyDatabase,
    run: RunRow,
    like: Vec<TestedLaw>,
    rng: ChaCha20Rng,
    iteration: Iteration,
    rows: usize,
    planning: f64,
    /// Processor time of commits.
    committing: f64,
    known: Vec<String>,
}

impl Growing {
    async fn new(mut database: AnyDatabase) -> Self {
        let (run, like) = findings().await;
        let id = database.create_run(&run).await.unwrap();
        let iteration = Iteration {
            id: 0,
            run_id: id,
            iteration_index: 0,
            started_at: run.created_at,
            completed_at: None,
            status: IterationStatus::Running,
            prompt_hash: None,
            summary_json: None,
        };
        Self {
            database,
            run: RunRow { id, ..run },
            like,
            rng: ChaCha20Rng::seed_from_u64(0),
            iteration,
            rows: 0,
            planning: 0.0,
            committing: 0.0,
            known: Vec::new(),
        }
    }

    fn hash(&mut self) -> String {
        let mut part = || self.rng.next_u64();
        let (a, b, c, d) = (part(), part(), part(), part());
        format!("{a:016x}{b:016x}{c:016x}{d:016x}")
    }

    /// Stores the laws of an iteration.
    async fn plan(&mut self) -> Vec<LawRow> {
        self.iteration.iteration_index += 1;
        let capabilities = CapabilityRow {
            id: 0,
            run_id: self.run.id,
            iteration_id: 0,
            universe_contract_json: "{}".into(),
            harness_capabilities_json: "{}".into(),
            created_at: self.run.created_at,
        };
        let begun = self
            .database
            .begin_iteration(&self.iteration, &capabilities);
        let iteration_id = begun.await.unwrap();
        let laws: Vec<LawRow> = (0..GROUP)
            .map(|index| LawRow {
                id: (self.rows + index + 1) as i64,
                run_id: self.run.id,
                law_fingerprint: self.hash(),
                created_iteration_id: iteration_id,
                status: LawStatus::Queued,
                ..self.like[index % self.like.len()].law.clone()
            })
            .collect();
        let plan = IterationPlan {
            iteration_id,
            laws,
            moved: Vec::new(),
            keys: Vec::new(),
            prompt_hash: None,
            summary_json: "{}".into(),
        };
        self.planning +=
            seconds(async { self.database.plan_iteration(&plan).await.unwrap() }).await;
        plan.laws
    }

    fn decide(&mut self, law: &LawRow, index: usize) -> DecisionRow {
        let verdict_digest = self.hash();
        let finding = &self.like[index % self.like.len()];
        DecisionRow {
            evaluation: popper_discovery::store::EvaluationRow {
                id: 0,
                run_id: self.run.id,
                law_id: law.id,
                ..finding.evaluation.clone()
            },
            counterexample: finding.counterexample.clone().map(|row| {
                popper_discovery::store::CounterexampleRow {
                    run_id: self.run.id,
                    ..row
                }
            }),
            law_status: LawStatus::Tested,
            claim: None,
            key: Some(VerdictKey {
                law_fingerprint: law.law_fingerprint.clone(),
                harness_config_hash: self.run.harness_hash.clone(),
                sim_hash: self.run.sim_hash.clone(),
                evaluation_id: 0,
                verdict_digest: verdict_digest.clone(),
            }),
            law_fingerprint: law.law_fingerprint.clone(),
            verdict_digest,
        }
    }

    /// Adds a group; answers the seconds that its commit took.
    async fn grow(&mut self) -> f64 {
        let laws = self.plan().await;
        let decisions: Vec<DecisionRow> = laws
            .iter()
            .enumerate()
            .map(|(index, law)| self.decide(law, index))
            .collect();
        self.rows += decisions.len();
        if self.known.len() < 200_000 || self.rows.is_multiple_of(7 * GROUP) {
            self.known
                .extend(laws.into_iter().map(|law| law.law_fingerprint));
        }
        let begin = processor();
        let spent = seconds(async { self.database.commit(&decisions).await.unwrap() }).await;
        self.committing += processor() - begin;
        spent
    }

    /// Look-ups a second, half of them of what is known.
    async fn look_up(&mut self, batch: usize, batches: usize) -> f64 {
        let mut spent = 0.0;
        for _ in 0..batches {
            let asked: Vec<String> = (0..batch)
                .map(|index| {
                    if index % 2 == 0 {
                        let some = self.rng.next_u64() as usize % self.known.len();
                        self.known[some].clone()
                    } else {
                        self.hash()
                    }
                })
                .collect();
            let (config, universe) = (self.run.harness_hash.clone(), self.run.sim_hash.clone());
            spent += seconds(async {
                let found = self
                    .database
                    .known(&asked, &config, &universe)
                    .await
                    .unwrap();
                assert!(batch == 1 || found.len() > batch / 4);
            })
            .await;
        }
        (batch * batches) as f64 / spent
    }
}

/// Milliseconds of a question.
fn millis<T>(question: impl Future<Output = T>) -> impl Future<Output = f64> {
    // A large future.
    let question = Box::pin(question);
    async { (seconds(question).await * 1e5).round() / 100.0 }
}

fn bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

async fn measure(rows: usize, server: Option<&postgres::Server>) -> Value {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("popper.db");
    let database = match server {
        None => {
            let opened = Database::open_with(&path, Access::Write, BULK).await;
            opened.unwrap().into()
        }
        Some(server) => {
            let address = Address::parse(&server.url()).unwrap();
            let opened = Server::open(&address, "growth", Access::Write).await;
            opened.unwrap().into()
        }
    };
    let mut growing = Growing::new(database).await;
    let mut levels = Vec::new();
    let mut first = None;
    let mut level = 1000;
    while level <= rows {
        while growing.rows < level {
            growing.grow().await;
        }
        // A level takes some groups, so that its share of checkpoints is in it.
        let groups = (level / GROUP / 10).clamp(5, 100);
        growing.planning = 0.0;
        growing.committing = 0.0;
        let mut spent = Vec::new();
        for _ in 0..groups {
            spent.push(growing.grow().await);
        }
        let total: f64 = spent.iter().sum();
        let per_row = total / (groups * GROUP) as f64;
        let first = *first.get_or_insert(per_row);
        spent.sort_by(f64::total_cmp);
        let median = spent[spent.len() / 2];
        let slowest = spent.iter().copied().fold(0.0, f64::max);
        let law = growing.known[0].clone();
        let run = growing.run.clone();
        // As many as an iteration asks for, half of them stored.
        let stored = growing.known.iter().take(100).cloned();
        let mut candidates: Vec<String> = stored.collect();
        candidates.extend((0..100).map(|_| growing.hash()));
        let database = &mut growing.database;
        let refuted = Query::newest(&run, Some(Status::Fail), 160);
        let (config, universe) = (&run.harness_hash, &run.sim_hash);
        let asked = [
            (
                "attempts_at",
                millis(database.attempts(AttemptFilter::Law {
                    fingerprint: &law,
                    harness_config_hash: config,
                    sim_hash: universe,
                }))
                .await,
            ),
            ("findings", millis(database.findings(refuted)).await),
            (
                "known_fingerprints",
                millis(database.known_fingerprints(run.id, &candidates)).await,
            ),
            ("tally", millis(database.tally(&run)).await),
        ];
        let asked: serde_json::Map<String, Value> = asked
            .into_iter()
            .map(|(question, millis)| (question.to_owned(), json!(millis)))
            .collect();
        levels.push(json!({
            "questions_of_an_iteration_ms": asked,
            "rows": level,
            "groups": groups,
            "evaluations_per_s": (1.0 / per_row).round(),
            "processor_us_each": (growing.committing * 1e6 / (groups * GROUP) as f64).round(),
            "growth": (per_row / first * 100.0).round() / 100.0,
            "evaluations_per_s_of_the_median_group": (GROUP as f64 / median).round(),
            "slowest_group_ms": (slowest * 1e3).round(),
            "laws_per_s": ((groups * GROUP) as f64 / growing.planning).round(),
            "lookups_per_s": growing.look_up(ASKED, 50).await.round(),
            "lookups_per_s_one_by_one": growing.look_up(1, 2000).await.round(),
        }));
        level *= 10;
    }
    let row = |finding: &TestedLaw| serde_json::to_vec(finding).unwrap().len();
    let refuted = growing
        .like
        .iter()
        .filter(|f| f.evaluation.status == Status::Fail);
    let answer = json!({
        "group": GROUP,
        "asked_at_once": ASKED,
        "mean_bytes_of_a_finding": growing.like.iter().map(row).sum::<usize>() / growing.like.len(),
        "refuted_of": [refuted.count(), growing.like.len()],
        "file_bytes_per_row": bytes(&path) / growing.rows as u64,
        "wal_bytes": bytes(&folder.path().join("popper.db-wal")),
        "levels": levels,
    });
    growing.database.close().await.unwrap();
    answer
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark takes its size from the command line"
)]
fn main() {
    let asked = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let server = std::env::args().any(|word| word == "--server");
    let server = server.then(|| postgres::durable_server().expect("a PostgreSQL server"));
    let answer = measure(asked.unwrap_or(1_000_000), server.as_ref());
    let answer = runtime.block_on(answer);
    println!("{}", serde_json::to_string_pretty(&answer).unwrap());
}
