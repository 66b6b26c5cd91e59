//! The estimate of a sweep: the calls and the cost of all its runs. Nothing is sent or written.

use std::io::Write as _;
use std::path::Path;

use bin_support::model::price_table;
use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::experiment::{Consumption, Experiment};
use logosphere_core::study::UnreadableRun;
use logosphere_core::study::sweep::{Cell, SweepFolder, SweepPlan};
use serde::Serialize;

use crate::estimate;
use crate::setup::{failure, seeds};
use crate::sweeping::{reason, run_name, settings_of};

/// The consumption of all runs of a sweep.
#[derive(Debug, Clone, Serialize)]
pub struct SweepEstimate {
    schema_version: u32,
    /// The number of runs.
    runs: u32,
    /// The calls in the journals of the runs that there are.
    done_calls: u64,
    /// The expected consumption of all runs.
    whole: Consumption,
    /// That with the longest answers.
    longest: Consumption,
    /// The runs that cannot be read, whose calls count as not done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<UnreadableRun>,
}

impl SweepEstimate {
    /// Estimates the runs of these cells in a folder, which may be missing.
    pub fn of(
        plan: &SweepPlan,
        cells: &[Cell],
        init: &[u8],
        folder: &Path,
        prices: Option<&Path>,
    ) -> Result<Self, Failure> {
        let (folder, table) = (SweepFolder::planned(folder), price_table(prices)?);
        let mut all = Self {
            schema_version: 1,
            runs: 0,
            done_calls: 0,
            whole: Consumption::default(),
            longest: Consumption::default(),
            unreadable: Vec::new(),
        };
        (all.whole.usd, all.longest.usd) = (Some(0.0), Some(0.0));
        for cell in cells {
            let settings = settings_of(cell)?;
            let seeds = seeds(&plan.init, init, &settings, &mut Vec::new())?;
            let stored = seeds.stored(settings.stamp_seeds).map(|seed| seed.len());
            let stored: Vec<_> = stored.collect();
            let (run, _) = estimate::priced(&settings, &stored, None, None, &table);
            for repeat in 0..plan.repeats {
                all.runs += 1;
                add(&mut all.whole, &run.whole);
                add(&mut all.longest, &run.longest);
                let Ok(experiment) = Experiment::open(&folder.run(cell, repeat)) else {
                    continue;
                };
                match experiment.begun().map_err(failure) {
                    Ok(None) => {}
                    Ok(Some(begun)) => {
                        let (round, mind) = begun.state.next_call();
                        let rounds = u64::from(round.0.saturating_sub(1));
                        all.done_calls += rounds * u64::from(settings.n_minds) + u64::from(mind.0);
                    }
                    Err(failure) => {
                        let why = reason(&failure);
                        all.unreadable
                            .push(UnreadableRun::new(run_name(cell, repeat), why));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Prints the estimate.
    pub fn print(&self, json: bool, session: &mut Session) -> Result<Exit, Failure> {
        for UnreadableRun { run, reason, .. } in &self.unreadable {
            session.warn(&format!("{run} cannot be read: {}", escape(reason)));
        }
        let out = &mut session.results;
        if json {
            out.json(self)?;
            return Ok(Exit::Done);
        }
        let (whole, longest) = (&self.whole, &self.longest);
        let (runs, done) = (self.runs, self.done_calls);
        writeln!(
            out,
            "calls     {} in {runs} runs; {done} are done",
            whole.calls
        )?;
        writeln!(out, "prompts   {} tokens", whole.prompt_tokens)?;
        writeln!(out, "answers   {} tokens", whole.completion_tokens)?;
        match (whole.usd, longest.usd) {
            (Some(0.0), Some(0.0)) => writeln!(out, "cost      none: no model is called")?,
            (Some(usd), Some(most)) => {
                writeln!(out, "cost      ${usd:.4} expected, ${most:.4} at most")?;
            }
            _ => writeln!(out, "cost      unknown: give the price with --prices FILE")?,
        }
        Ok(Exit::Done)
    }
}

fn add(sum: &mut Consumption, run: &Consumption) {
    sum.calls += run.calls;
    sum.prompt_tokens += run.prompt_tokens;
    sum.completion_tokens += run.completion_tokens;
    sum.usd = sum.usd.zip(run.usd).map(|(sum, run)| sum + run);
}
