//! Deciding a law: prove, exhaust, sample, search, shrink.

mod adversarial;
mod config;
mod exhaustive;
mod generators;
mod lab;
mod minimize;
mod mutants;
mod rings;
mod sampled;
mod tautology;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use config::{Config, ConfigError};
pub use generators::Family;
pub(crate) use rings::{Rings, Watch};
pub use verdict::{
    Evidence, HorizonNote, Mutation, Power, Reason, RingPower, Status, Strength, VERDICT_VERSION,
    Verdict,
};

use crate::counterexample::Package;
use crate::lanes::{Circuit, Scratch};
use crate::law::{Claim, Law, Missing, Program, Unfit};
use crate::proof;
use crate::universe::{Rule, Universe};
use exhaustive::Exhaustion;
use generators::{Draw, knows_transform};
use lab::{Lab, Tally, Violation};
use minimize::Minimum;
use sampled::{Sample, Sampling};

/// Decides laws of one universe.
///
/// Pure: the same universe, configuration, law and seed give the same verdict, for any number of threads, on any machine.
pub struct Harness {
    universe: Box<dyn Universe>,
    config: Config,
    sim_hash: String,
    config_hash: String,
    circuit: Arc<Circuit>,
}

/// Asked between two steps of work: whether to stop. A stopped evaluation is UNKNOWN `resource_limit`.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

impl Harness {
    /// A harness for a universe.
    ///
    /// # Errors
    /// [`ConfigError`] when a field of the configuration is out of range.
    pub fn new(universe: impl Universe + 'static, config: Config) -> Result<Self, ConfigError> {
        Self::boxed(Box::new(universe), config)
    }

    /// The same for a universe that is only known at run time.
    ///
    /// # Errors
    /// [`ConfigError`] when a field of the configuration is out of range.
    pub fn boxed(universe: Box<dyn Universe>, config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let sim_hash = universe.definition_hash();
        let circuit = Arc::new(Circuit::new(&Rule::of(universe.as_ref())));
        Ok(Self {
            sim_hash,
            config_hash: config.hash(),
            circuit,
            universe,
            config,
        })
    }

    /// The universe whose laws are decided.
    pub fn universe(&self) -> &dyn Universe {
        self.universe.as_ref()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// sha256 of the universe's definition.
    pub fn sim_hash(&self) -> &str {
        &self.sim_hash
    }

    /// sha256 of the configuration without its seed.
    pub fn config_hash(&self) -> &str {
        &self.config_hash
    }

    /// Decides a law.
    pub fn evaluate(&self, law: &Law) -> Verdict {
        self.evaluate_until(law, &|| false)
    }

    /// Decides a law unless told to stop. Stopping can only turn a verdict into UNKNOWN `resource_limit`.
    pub fn evaluate_until(&self, law: &Law, stop: Stop<'_>) -> Verdict {
        let fingerprint = law.fingerprint();
        let mut verdict = Verdict {
            schema_version: VERDICT_VERSION.into(),
            law_id: law.law_id.clone(),
            law_fingerprint: fingerprint.clone(),
            sim_hash: self.sim_hash.clone(),
            harness_config_hash: self.config_hash.clone(),
            seed: self.config.seed,
            status: Status::Unknown,
            reason_code: None,
            evidence: Evidence::default(),
            power: Power::default(),
            counterexample: None,
            notes: Vec::new(),
            runtime_ms: 0,
        };
        verdict.evidence.horizon = HorizonNote {
            t: law.quantifiers.t,
            h: law.quantifiers.h,
            ..HorizonNote::default()
        };
        match self.resolve(law) {
            Err((reason, note)) => {
                verdict.reason_code = Some(reason);
                verdict.notes.push(note);
            }
            Ok(program) => Trial::new(self, law, &program, &fingerprint, stop).run(&mut verdict),
        }
        verdict
    }

    /// The law as a program, or the first reason why there is none, in the order in which reasons count.
    fn resolve(&self, law: &Law) -> Result<Program, (Reason, String)> {
        let compiled = Program::compile(law, self.universe.as_ref());
        let lacks = &law.capabilities;
        let observable = lacks
            .missing_observables
            .iter()
            .find(|name| !self.has_observable(law, name));
        let transform = lacks
            .missing_transforms
            .iter()
            .find(|name| !knows_transform(self.universe.as_ref(), name));
        let generator = lacks
            .missing_generators
            .iter()
            .find(|name| Family::by_name(name).is_none());
        let declared =
            |name: &String| format!("the law declares that `{name}` is missing, and it is");
        match (&compiled, observable, transform, generator) {
            (Err(Unfit::Missing(missing @ Missing::Observable(_))), ..) => {
                Err((Reason::MissingObservable, missing.to_string()))
            }
            (_, Some(name), ..) => Err((Reason::MissingObservable, declared(name))),
            (Err(Unfit::Missing(missing)), ..) => {
                Err((Reason::MissingTransform, missing.to_string()))
            }
            (_, _, Some(name), _) => Err((Reason::MissingTransform, declared(name))),
            (_, _, _, Some(name)) => Err((Reason::MissingGenerator, declared(name))),
            (Err(Unfit::Ambiguous(ambiguity)), ..) => {
                Err((Reason::AmbiguousClaim, ambiguity.to_string()))
            }
            (Ok(_), ..) => compiled.map_err(|unfit| (Reason::AmbiguousClaim, unfit.to_string())),
        }
    }

    /// Whether an observable that a law declares missing is there after all.
    fn has_observable(&self, law: &Law, name: &str) -> bool {
        let declared = law
            .observables
            .iter()
            .find(|observable| observable.name == name);
        let expr = declared.map_or(name, |observable| observable.expr.as_str());
        Program::measures(expr, self.universe.as_ref())
    }
}

/// One law on its way to a verdict.
struct Trial<'a> {
    harness: &'a Harness,
    law: &'a Law,
    program: &'a Program,
    fingerprint: &'a str,
    lab: Lab<'a>,
    stop: Stop<'a>,
}

/// What the stages found, before it is judged.
#[derive(Default)]
struct Findings {
    tallies: Vec<Tally>,
    samples: Vec<Sample>,
    /// Every ring up to this size is exhausted (or excluded by the preconditions).
    exhausted: usize,
    found: Option<Violation>,
    stopped: bool,
}

impl<'a> Trial<'a> {
    fn new(
        harness: &'a Harness,
        law: &'a Law,
        program: &'a Program,
        fingerprint: &'a str,
        stop: Stop<'a>,
    ) -> Self {
        let lab = Lab {
            universe: harness.universe.as_ref(),
            circuit: &harness.circuit,
            max_t: harness.config.max_t,
        };
        Self {
            harness,
            law,
            program,
            fingerprint,
            lab,
            stop,
        }
    }

    fn rings(&self) -> Rings<'_> {
        Rings::new(self.program, self.lab.universe, self.harness.config.max_t)
    }

    fn sampling(&self) -> Sampling<'_> {
        Sampling {
            lab: &self.lab,
            program: self.program,
            law: self.law,
            fingerprint: self.fingerprint,
            seed: self.harness.config.seed,
            rounds: self.harness.config.rounds,
            proposed_cases: self.harness.config.proposed_cases,
        }
    }

    fn run(&self, verdict: &mut Verdict) {
        let config = &self.harness.config;
        let proof = proof::prove(self.law, self.program, self.lab.universe);
        let mut findings = Findings::default();
        self.exhaust(&mut findings);
        let largest = self.rings().largest();
        let complete = largest.is_some_and(|largest| largest <= findings.exhausted);
        if findings.found.is_none() && !findings.stopped {
            self.sample(&mut findings);
        }
        if findings.found.is_none()
            && !findings.stopped
            && config.adversarial
            && proof.is_none()
            && !complete
        {
            let generations = config.generations;
            let tallies = adversarial::search(
                &self.lab,
                self.program,
                config.seed,
                self.fingerprint,
                generations,
                largest,
            );
            findings.found = tallies.iter().find_map(|tally| tally.best.clone());
            findings.tallies.extend(tallies);
        }

        self.describe_horizon(verdict, &findings);
        if let Some(found) = findings.found.take() {
            self.refute(verdict, found, &findings);
            if proof.is_some() {
                // A certificate and a counterexample cannot both be right; the counterexample can be replayed.
                verdict
                    .notes
                    .push("alarm: a certificate was found for a law that is refuted".into());
            }
        }
        verdict.power = self.power(&findings);
        if verdict.status == Status::Fail {
            return;
        }
        verdict.evidence.proof = proof;
        self.weigh(&mut verdict.evidence, &findings, complete);
        self.judge(verdict, &findings, complete);
    }

    /// Stage 3: every ring up to the configured size, within the budget.
    fn exhaust(&self, findings: &mut Findings) {
        let config = &self.harness.config;
        for n in 1..=config.exhaustive_n {
            if (self.stop)() {
                findings.stopped = true;
                return;
            }
            if Exhaustion::cost(&self.lab, self.program, n) > config.exhaustive_budget {
                return;
            }
            if let Some(ring) = Exhaustion::new(&self.lab, self.program, n) {
                let mut tally = ring.run();
                tally.exhausted = ring.exact();
                findings.found.clone_from(&tally.best);
                findings.tallies.push(tally);
                if findings.found.is_some() {
                    return;
                }
                if !ring.exact() {
                    continue;
                }
            } else if self.rings().admits(n) {
                // Nothing can be watched here, so nothing is exhausted from here on.
                return;
            }
            if findings.exhausted == n - 1 {
                findings.exhausted = n;
            }
        }
    }

    /// Stage 4: the ladder, and beyond it what the proposer or the preconditions name.
    fn sample(&self, findings: &mut Findings) {
        let sampling = self.sampling();
        let mut ladder = self.harness.config.ladder.clone();
        ladder.extend(sampling.proposed_rings());
        ladder.extend(
            self.rings()
                .largest()
                .filter(|&n| n > 0 && n as u64 <= crate::law::MAX_RING),
        );
        ladder.sort_unstable();
        ladder.dedup();
        // A few rings at a time: they are cheap side by side, but those past a refutation are wasted.
        for rings in ladder.chunks(8) {
            if (self.stop)() {
                findings.stopped = true;
                return;
            }
            findings.samples.extend(sampling.run(rings));
            findings.found = findings
                .samples
                .last()
                .and_then(|sample| sample.tally.best.clone());
            if findings.found.is_some() {
                return;
            }
        }
    }

    fn refute(&self, verdict: &mut Verdict, found: Violation, findings: &Findings) {
        let config = &self.harness.config;
        let n = found.start.len();
        // A violation of the exhaustive stage is the smallest already: it is the best of the first ring that has one.
        let smallest = n == findings.exhausted + 1
            && findings.tallies.last().is_some_and(|tally| {
                tally.n == n
                    && tally
                        .families
                        .iter()
                        .any(|(family, ..)| *family == Family::Exhaustive)
            });
        let minimum = if smallest {
            Minimum {
                violation: found,
                minimal: true,
            }
        } else {
            let sampling = self.sampling();
            minimize::minimize(
                &self.lab,
                &sampling,
                found,
                findings.exhausted,
                config.minimal_n,
                config.exhaustive_budget,
            )
        };
        let Violation { start, t_fail, .. } = minimum.violation;
        let package = Package {
            seed: config.seed,
            start: &start,
            t_fail,
        };
        let mut counterexample = package.build(self.law, self.program, self.lab.universe);
        counterexample.minimized = true;
        counterexample.minimal = minimum.minimal;
        verdict.status = Status::Fail;
        verdict.counterexample = Some(counterexample);
    }

    fn describe_horizon(&self, verdict: &mut Verdict, findings: &Findings) {
        let horizon = &mut verdict.evidence.horizon;
        let max_t = self.harness.config.max_t;
        let probe = findings.samples.first().map_or(1, |sample| sample.n);
        let periodic =
            self.lab.universe.period_bound(probe).is_some() && !self.program.counts_time();
        let asked = self
            .program
            .horizon
            .max(self.law.quantifiers.h.unwrap_or(0));
        horizon.exact = periodic || asked <= max_t;
        horizon.note = if periodic {
            "runs repeat after a known period p, so t to min(T, p) and windows to min(H, p - 1) are all there is".into()
        } else if horizon.exact {
            "every step was simulated".into()
        } else {
            format!(
                "T = {} (window {}) is beyond the {max_t} steps that are simulated",
                self.program.horizon, asked
            )
        };
    }

    /// What the best evidence is and how far it reaches.
    fn weigh(&self, evidence: &mut Evidence, findings: &Findings, complete: bool) {
        let sampled = findings
            .samples
            .iter()
            .filter(|sample| sample.tally.used > 0)
            .map(|sample| sample.n);
        if evidence.proof.is_some() {
            evidence.strength = Some(Strength::Proved);
            evidence.scope = "every ring size, every t".into();
            evidence.complete = true;
        } else if findings.exhausted > 0
            && findings
                .tallies
                .iter()
                .any(|tally| tally.exhausted && tally.used > 0)
        {
            evidence.strength = Some(Strength::Exhaustive);
            evidence.scope = format!(
                "every admissible start of every ring with N <= {}",
                findings.exhausted
            );
            if let (false, Some(largest)) = (complete, sampled.max()) {
                evidence.scope += &format!("; sampled up to N = {largest}");
            }
            evidence.complete = complete;
        } else if let Some(largest) = sampled.max() {
            evidence.strength = Some(Strength::Sampled);
            evidence.scope = format!("generated starts of rings up to N = {largest}");
        } else {
            evidence.scope = "nothing admissible was found".into();
        }
    }

    /// PASS, or the first reason against it. Only for laws that nothing refuted.
    fn judge(&self, verdict: &mut Verdict, findings: &Findings, complete: bool) {
        let config = &self.harness.config;
        let power = &verdict.power;
        let implication = matches!(
            self.program.claim,
            Claim::Always {
                antecedent: Some(_),
                ..
            } | Claim::Eventually { .. }
                | Claim::Local { .. }
        );
        let static_error = || {
            let sizes = (1..=config.exhaustive_n).chain(config.ladder.iter().copied());
            sizes.into_iter().find_map(|n| self.rings().error(n))
        };
        let errors = findings
            .tallies
            .iter()
            .chain(findings.samples.iter().map(|sample| &sample.tally))
            .any(|tally| tally.errors > 0);
        let reason = if errors || static_error().is_some() {
            let why = "an expression has no value on some case (overflow, or division by zero)";
            verdict.notes.push(why.into());
            Some(Reason::EvaluationError)
        } else if power.distinct == 0 || (power.distinct < config.min_cases && !complete) {
            verdict.notes.push(format!(
                "{} different starts met the preconditions",
                power.distinct
            ));
            Some(Reason::UnmetPreconditions)
        } else if implication && power.triggers == 0 {
            verdict.notes.push("the antecedent never held".into());
            Some(Reason::VacuousPass)
        } else if self.is_tautology() {
            verdict.notes.push(
                "the law holds for arbitrary, unrelated states: it says nothing of the dynamics"
                    .into(),
            );
            Some(Reason::TautologicalClaim)
        } else if !verdict.evidence.horizon.exact || findings.stopped {
            let why = if findings.stopped {
                "stopped before the end"
            } else {
                "no period is known that would make the horizon exact"
            };
            verdict
                .notes
                .push(format!("T = {} was asked for; {why}", self.program.horizon));
            Some(Reason::ResourceLimit)
        } else if implication
            && (power.triggers < config.min_triggers
                || power.trigger_families.len() < config.min_trigger_families)
        {
            let (count, families) = (power.triggers, power.trigger_families.len());
            verdict.notes.push(format!(
                "the antecedent held only {count} times in {families} families"
            ));
            Some(Reason::InconclusiveLowPower)
        } else if power.mutation.refuted == 0 {
            let total = power.mutation.total;
            verdict.notes.push(format!(
                "none of the law's {total} mutants was refuted by the cases it survived"
            ));
            Some(Reason::InconclusiveLowPower)
        } else {
            None
        };
        verdict.reason_code = reason;
        if reason.is_none() {
            verdict.status = Status::Pass;
        }
    }

    fn is_tautology(&self) -> bool {
        let mut draw = Draw::new(self.harness.config.seed, self.fingerprint, "tautology", 0);
        tautology::is_tautology(
            self.program,
            self.lab.universe,
            &self.rings(),
            &self.harness.config.ladder,
            &mut draw,
        )
    }

    fn power(&self, findings: &Findings) -> Power {
        let mut power = Power::default();
        let mut rings: BTreeMap<usize, RingPower> = BTreeMap::new();
        let (mut unusual, mut wrapped) = (0, 0);
        for tally in findings
            .tallies
            .iter()
            .chain(findings.samples.iter().map(|sample| &sample.tally))
        {
            power.attempted += tally.attempted;
            power.used += tally.used;
            unusual += tally.unusual;
            wrapped += tally.wrapped;
            for (all, here) in power.densities.iter_mut().zip(tally.densities) {
                *all += here;
            }
            for &(family, used, triggers) in &tally.families {
                for (map, count) in [
                    (&mut power.families, used),
                    (&mut power.trigger_families, triggers),
                ] {
                    if count > 0 {
                        *map.entry(family.name().into()).or_default() += count;
                    }
                }
                power.triggers += triggers;
            }
            let ring = rings.entry(tally.n).or_insert_with(|| RingPower {
                n: tally.n,
                ..RingPower::default()
            });
            ring.exhausted |= tally.exhausted;
            ring.attempted += tally.attempted;
            ring.used += tally.used;
            // Samples of an exhausted ring show nothing new.
            ring.distinct = ring.distinct.max(tally.distinct);
        }
        for ring in rings.values_mut() {
            power.distinct += ring.distinct;
            // The rule of three: with no violation in m independent cases the rate is below 3/m at 95 %.
            ring.violation_rate_upper_95 =
                (!ring.exhausted && ring.distinct > 0).then(|| share(3, ring.distinct).min(1.0));
        }
        power.rings = rings.into_values().collect();
        if power.used > 0 {
            power.collision_coverage = share(unusual, power.used);
            power.wrap_coverage = share(wrapped, power.used);
        }
        if findings.found.is_none() && power.used > 0 {
            power.mutation = self.mutation(findings);
        }
        power
    }

    /// How many of the law's mutants the same cases refute.
    fn mutation(&self, findings: &Findings) -> Mutation {
        let mutants = mutants::mutants(self.program, self.lab.universe);
        let refuted = mutants
            .iter()
            .filter(|mutant| self.refutes(mutant, findings))
            .count() as u64;
        let total = mutants.len() as u64;
        Mutation {
            total,
            refuted,
            score: share(refuted, total),
        }
    }

    fn refutes(&self, mutant: &Program, findings: &Findings) -> bool {
        let small = findings
            .tallies
            .iter()
            .filter(|tally| tally.exhausted)
            .map(|tally| tally.n);
        let exhausted = small
            .filter_map(|n| Exhaustion::new(&self.lab, mutant, n))
            .any(|ring| ring.run().best.is_some());
        exhausted || {
            let mut scratch = Scratch::default();
            findings.samples.iter().any(|sample| {
                let bench = self.lab.bench(mutant, sample.n);
                bench.is_some_and(|bench| {
                    sample
                        .batches
                        .iter()
                        .any(|batch| bench.run(batch, &mut scratch).violated.any())
                })
            })
        }
    }
}

/// `part / whole` to six decimals, so that it survives being written and read; 0 where there is no whole.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        (part as f64 / whole as f64 * 1e6).round() / 1e6
    }
}
