use super::{DirectoryError, RunDirectory};
use crate::plan::Plan;
use crate::report::RunReport;
use crate::store::{CallsFile, JsonlStore};
use crate::{RunEvent, Runner};

/// The treatment of calls that are not those of the last report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ChangedCalls {
    /// Runs nothing and returns [`DirectoryError::CallsChanged`].
    #[default]
    Refuse,
    /// The report is made again of the calls that are there, and says so.
    Accept,
}

impl RunDirectory {
    /// Runs what is missing, which for a new run is everything, and writes the report. `runner` keeps its calls in the directory,
    /// whatever store it had; no call that was kept is made again.
    ///
    /// After the runner's token is cancelled the report says which experiments were not run: the next resume runs them.
    ///
    /// # Errors
    /// [`DirectoryError`]: another model than the plan's, changed calls, or a file that cannot be read or written.
    pub async fn resume(
        &self,
        runner: Runner<'_>,
        changed: ChangedCalls,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunReport, DirectoryError> {
        let report = self.perform(self.plan(), runner, changed, on_event).await?;
        self.write_report(&report)?;
        Ok(report)
    }

    /// Runs what is missing of `plan`, which is the run's or has other judges; the report is not written yet.
    pub(super) async fn perform(
        &self,
        plan: &Plan,
        runner: Runner<'_>,
        changed: ChangedCalls,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunReport, DirectoryError> {
        self.check_models(&runner.context.client.label(), &plan.config.models.encoder)?;
        let mut known = self.report()?;
        if let Some(report) = &mut known {
            let checked = Self::check_calls(self.path(), report);
            match (checked, &mut report.calls_file) {
                (Err(_), Some(calls)) if changed == ChangedCalls::Accept => calls.changed = true,
                (checked, _) => checked?,
            }
        }
        let path = Self::calls_in(self.path());
        let (store, torn) = JsonlStore::open(&path)?;
        if let Some(line) = &torn {
            on_event(RunEvent::CutOff { path: &path, line });
        }
        let mut report = runner.store(store).run(plan, on_event).await?;
        self.frozen_at().clone_into(&mut report.created_at);
        let read = CallsFile::read(&path);
        let mut calls = read.map_err(|source| DirectoryError::Read { path, source })?;
        if let Some(known) = known {
            calls.changed = known.calls_file.is_some_and(|calls| calls.changed);
            // Judged again, a run remembers its earlier scores, however often it is resumed.
            for (new, old) in report.results.iter_mut().zip(known.results) {
                new.previous_scores.clone_from(&old.previous_scores);
                // A result that is the same as before keeps its time.
                let time = new.metadata.timestamp.clone();
                new.metadata.timestamp.clone_from(&old.metadata.timestamp);
                if *new != old {
                    new.metadata.timestamp = time;
                }
            }
        }
        report.calls_file = Some(calls);
        Ok(report)
    }
}
