//! A fleet as a discrete-event simulation: no server, no clock, the same figures each time.
//!
//! Each coordinator plans, submits its laws in shards, commits results as they come, one commit at a time, and plans again when all
//! are committed. Each worker has one thread: it claims a shard, decides its laws, stores the result, and claims the next at once; an
//! idle one claims when a submit wakes it. All statements share the cores of the database server, and what they write shares one
//! log device. A job does not wait for the log, a submit and a commit do.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::station::{Nanos, Station, exponential, nanos};

/// The most laws of a commit.
const MOST_LAWS: usize = 1000;

/// The statements of a job: claim, deliver, finish, complete. Each takes an equal part.
const STATEMENTS: f64 = 4.0;

/// The costs of the parts: seconds, and kB of log.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// The statements of a job together, without its output.
    pub job: f64,
    /// The part of a job that a kB of output adds.
    pub job_kb: f64,
    /// A claim that finds nothing.
    pub poll: f64,
    pub commit: f64,
    /// The part of a commit that a law adds.
    pub commit_law: f64,
    /// The part of a submit that a shard adds.
    pub submit_shard: f64,
    pub round_trip: f64,
    /// The output of a law.
    pub output_kb: f64,
    pub commit_kb: f64,
    pub submit_kb: f64,
}

/// A fleet and its database server.
#[derive(Debug, Clone, Copy)]
pub struct Fleet {
    pub workers: usize,
    pub coordinators: usize,
    /// The laws of an iteration.
    pub laws: usize,
    /// The mean time of a law in seconds.
    pub law: f64,
    /// The time of a plan in seconds.
    pub plan: f64,
    /// The longest mean time of a shard in seconds.
    pub shard: f64,
    /// The wait of an idle worker between two claims in seconds.
    pub poll: f64,
    pub cores: usize,
    /// The speed of the log device in MB a second, of 1024 kB.
    pub log: f64,
    /// The simulated time in seconds.
    pub seconds: f64,
}

impl Fleet {
    /// The laws of a shard: as many as its time allows, and four shards for each worker when all coordinators submit.
    pub fn laws_of_shard(&self) -> usize {
        let fair = (self.laws * self.coordinators).div_ceil(4 * self.workers);
        ((self.shard / self.law) as usize).min(fair).max(1)
    }
}

/// The figures of a fleet.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    pub laws_per_s: f64,
    /// The part of the laws that workers without any wait would decide.
    pub of_ideal: f64,
    /// The busy part of the server's cores.
    pub server: f64,
    /// The busy part of the log device.
    pub log: f64,
}

/// Simulates a fleet from its start.
pub fn simulate(costs: &Costs, fleet: &Fleet, seed: u64) -> Figures {
    Simulation::new(costs, fleet, seed).run()
}

#[derive(Debug, Clone, Copy)]
struct Shard {
    coordinator: usize,
    laws: usize,
}

/// A point at which a coordinator or a worker continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Planned(usize),
    Submitted(usize),
    Committed(usize),
    /// The worker asks for a job, if it has been idle since this event.
    Polls(usize, u64),
    Claimed(usize),
    Delivered(usize),
    Decided(usize),
    Finished(usize),
    Completed(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Continues(Step),
    /// A statement has used its core and writes for a time; then a submit or a commit is answered.
    Writes(Nanos, Option<Step>),
}

#[derive(Default)]
struct Coordinator {
    /// Laws that are not committed.
    open: usize,
    /// Laws whose result is there.
    decided: usize,
    /// Laws of the commit under way.
    committing: usize,
}

#[derive(Default)]
struct Worker {
    shard: Option<Shard>,
    /// The event since which the worker is idle.
    idle_since: Option<u64>,
}

struct Simulation<'a> {
    costs: &'a Costs,
    fleet: &'a Fleet,
    random: ChaCha20Rng,
    now: Nanos,
    horizon: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    /// The number of events so far: those of the same time keep their order.
    number: u64,
    cores: Station,
    log: Station,
    coordinators: Vec<Coordinator>,
    workers: Vec<Worker>,
    /// Workers in the order in which they became idle.
    idle: VecDeque<usize>,
    shards: VecDeque<Shard>,
    committed: usize,
}

impl<'a> Simulation<'a> {
    fn new(costs: &'a Costs, fleet: &'a Fleet, seed: u64) -> Self {
        let horizon = nanos(fleet.seconds);
        let mut new = Self {
            costs,
            fleet,
            random: ChaCha20Rng::seed_from_u64(seed),
            now: 0,
            horizon,
            events: BinaryHeap::new(),
            number: 0,
            cores: Station::new(fleet.cores, horizon),
            log: Station::new(1, horizon),
            coordinators: Vec::new(),
            workers: Vec::new(),
            idle: VecDeque::new(),
            shards: VecDeque::new(),
            committed: 0,
        };
        new.coordinators
            .resize_with(fleet.coordinators, Coordinator::default);
        new.workers.resize_with(fleet.workers, Worker::default);
        for worker in 0..fleet.workers {
            new.claim(worker);
        }
        // Their starts are spread over the time of a plan.
        for coordinator in 0..fleet.coordinators {
            let part = coordinator as f64 / fleet.coordinators as f64;
            new.after(fleet.plan * part, Step::Planned(coordinator));
        }
        new
    }

    fn run(mut self) -> Figures {
        while let Some(Reverse((time, _, event))) = self.events.pop() {
            if time > self.horizon {
                break;
            }
            self.now = time;
            match event {
                Event::Continues(step) => self.step(step),
                Event::Writes(time, step) => {
                    let end = self.log.serve(self.now, time);
                    if let Some(step) = step {
                        self.answer(end, step);
                    }
                }
            }
        }
        let laws_per_s = self.committed as f64 / self.fleet.seconds;
        Figures {
            laws_per_s,
            of_ideal: laws_per_s * self.fleet.law / self.fleet.workers as f64,
            server: self.cores.utilisation(),
            log: self.log.utilisation(),
        }
    }

    fn add(&mut self, time: Nanos, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, event)));
    }

    fn after(&mut self, seconds: f64, step: Step) {
        self.add(self.now + nanos(seconds), Event::Continues(step));
    }

    /// Lets the caller continue after the answer of a statement that ends at `end`.
    fn answer(&mut self, end: Nanos, step: Step) {
        self.add(end + nanos(self.costs.round_trip), Event::Continues(step));
    }

    /// A statement that is answered when it has used a core for this time.
    fn ask(&mut self, seconds: f64, step: Step) {
        let end = self.cores.serve(self.now, nanos(seconds));
        self.answer(end, step);
    }

    /// A statement that writes after it has used a core for this time; `step` is the caller that waits for it.
    fn write(&mut self, seconds: f64, kb: f64, step: Option<Step>) -> Nanos {
        let end = self.cores.serve(self.now, nanos(seconds));
        let time = nanos(kb / (self.fleet.log * 1024.0));
        self.add(end, Event::Writes(time, step));
        end
    }

    fn step(&mut self, step: Step) {
        let costs = self.costs;
        let statement = costs.job / STATEMENTS;
        match step {
            Step::Planned(coordinator) => {
                let laws = self.fleet.laws;
                self.coordinators[coordinator].open = laws;
                let shards = laws.div_ceil(self.fleet.laws_of_shard()) as f64;
                let kb = costs.submit_kb * laws as f64;
                let step = Step::Submitted(coordinator);
                self.write(costs.submit_shard * shards, kb, Some(step));
            }
            Step::Submitted(coordinator) => self.hand_out(coordinator),
            Step::Polls(worker, number) => {
                if self.workers[worker].idle_since == Some(number) {
                    self.cores.serve(self.now, nanos(costs.poll));
                    self.after(self.fleet.poll, step);
                }
            }
            Step::Claimed(worker) => self.ask(statement, Step::Delivered(worker)),
            Step::Delivered(worker) => {
                let laws = self.laws_of(worker);
                let times = (0..laws).map(|_| exponential(&mut self.random, self.fleet.law));
                let time: f64 = times.sum();
                self.after(time, Step::Decided(worker));
            }
            Step::Decided(worker) => {
                let kb = costs.output_kb * self.laws_of(worker) as f64;
                let end = self.write(statement + costs.job_kb * kb, kb, None);
                self.answer(end, Step::Finished(worker));
            }
            Step::Finished(worker) => {
                if let Some(shard) = self.workers[worker].shard.take() {
                    self.coordinators[shard.coordinator].decided += shard.laws;
                    self.commit(shard.coordinator);
                }
                self.ask(statement, Step::Completed(worker));
            }
            Step::Completed(worker) => self.claim(worker),
            Step::Committed(index) => {
                let coordinator = &mut self.coordinators[index];
                coordinator.open -= coordinator.committing;
                self.committed += coordinator.committing;
                coordinator.committing = 0;
                if coordinator.open == 0 {
                    self.after(self.fleet.plan, Step::Planned(index));
                } else {
                    self.commit(index);
                }
            }
        }
    }

    fn laws_of(&self, worker: usize) -> usize {
        self.workers[worker].shard.map_or(0, |shard| shard.laws)
    }

    /// Adds the shards of a coordinator and wakes idle workers for them.
    fn hand_out(&mut self, coordinator: usize) {
        let mut left = self.fleet.laws;
        while left > 0 {
            let laws = left.min(self.fleet.laws_of_shard());
            self.shards.push_back(Shard { coordinator, laws });
            left -= laws;
        }
        for _ in 0..self.shards.len().min(self.idle.len()) {
            if let Some(worker) = self.idle.pop_front() {
                self.workers[worker].idle_since = None;
                self.claim(worker);
            }
        }
    }

    /// Takes the oldest shard, or makes the worker idle.
    fn claim(&mut self, worker: usize) {
        if let Some(shard) = self.shards.pop_front() {
            self.workers[worker].shard = Some(shard);
            self.ask(self.costs.job / STATEMENTS, Step::Claimed(worker));
        } else {
            self.workers[worker].idle_since = Some(self.number);
            self.idle.push_back(worker);
            self.after(self.fleet.poll, Step::Polls(worker, self.number));
        }
    }

    /// Commits the results that are there, unless a commit is under way.
    fn commit(&mut self, index: usize) {
        let coordinator = &mut self.coordinators[index];
        if coordinator.committing > 0 || coordinator.decided == 0 {
            return;
        }
        let laws = coordinator.decided.min(MOST_LAWS);
        coordinator.decided -= laws;
        coordinator.committing = laws;
        let laws = laws as f64;
        let seconds = self.costs.commit + self.costs.commit_law * laws;
        let kb = self.costs.commit_kb * laws;
        self.write(seconds, kb, Some(Step::Committed(index)));
    }
}
