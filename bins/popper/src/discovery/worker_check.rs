//! The part of `popper check` that lets workers decide the laws.

use std::time::Duration;

use bin_support::{Failure, Interrupt, Session};
use futures_util::StreamExt as _;
use popper_discovery::EvaluatorError;
use popper_discovery::evaluator::InOrder;
use popper_harness::decide::{Harness, Verdict};
use popper_harness::law::Law;
use sha2::{Digest as _, Sha256};

use super::coordinator::{self, OwnWorker, abort_if_stuck};
use super::database::failure;
use crate::flags::FleetFlags;
use crate::location::ServerLocation;

/// The number of laws in a group of jobs, whose answers are in memory at once.
const LAWS: usize = 1000;

/// The time without an answer of the server after which a line says so.
const PATIENT: Duration = Duration::from_secs(2);

/// Decides laws in their order, and hands each verdict on. Ends early at an interrupt.
///
/// The jobs stay until all laws are decided: a process that is killed and started again finds the answers.
pub async fn decide(
    server: &ServerLocation,
    flags: &FleetFlags,
    harness: &Harness,
    laws: &[Law],
    session: &mut Session,
    mut on_verdict: impl FnMut(&Law, Verdict, &mut Session) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let interrupt = Interrupt::on_signals()?;
    let chunks: Vec<(String, &[Law])> = laws
        .chunks(LAWS)
        .map(|laws| (group_name(harness, laws), laws))
        .collect();
    let name = format!(
        "popper {}",
        chunks.first().map_or("check", |chunk| &chunk.0)
    );
    let opened = tokio::select! {
        opened = coordinator::open_queue(server, &name, flags, session) => opened,
        () = interrupt.raised() => return Ok(()),
        () = told_of_waiting(server, session) => return Ok(()),
    };
    let (mut evaluator, mut own) = opened?;
    let mut ended = Ok(true);
    for (name, laws) in &chunks {
        let mut outcomes = InOrder::default();
        let mut evaluated = std::pin::pin!(evaluator.check(name, harness, laws));
        while outcomes.taken() < laws.len() {
            let next = tokio::select! {
                next = evaluated.next() => next,
                error = own.failed() => Some(Err(error)),
                () = interrupt.raised() => None,
            };
            match next {
                Some(Ok(next)) => outcomes.add(next),
                Some(Err(error)) => ended = Err(error),
                None => ended = Ok(false),
            }
            if !matches!(ended, Ok(true)) {
                break;
            }
            while let Some((index, outcome)) = outcomes.pop() {
                let law = &laws[index];
                let (verdict, _) = outcome.verdict(law.law_id(), &law.fingerprint(), harness);
                on_verdict(law, verdict, session)?;
            }
        }
        if !matches!(ended, Ok(true)) {
            break;
        }
    }
    end(own, &ended, session).await;
    if ended.map_err(failure)? {
        for (name, _) in &chunks {
            evaluator.forget(name).await?;
        }
    }
    Ok(())
}

/// Says once that a server does not answer, and never ends.
async fn told_of_waiting(server: &ServerLocation, session: &Session) {
    tokio::time::sleep(PATIENT).await;
    session.warn(&format!("waiting for {}", server.address));
    std::future::pending::<()>().await;
}

async fn end(own: OwnWorker, ended: &Result<bool, EvaluatorError>, session: &Session) {
    if let Err(EvaluatorError::Other(error)) = ended
        && let Some(error) = error.downcast_ref()
    {
        abort_if_stuck(error, session);
    }
    own.stop().await;
}

/// The same name for the same laws under the same harness and seed.
fn group_name(harness: &Harness, laws: &[Law]) -> String {
    let mut hash = Sha256::new();
    let seed = harness.config().seed.to_string();
    for part in [harness.sim_hash(), harness.config_hash(), &seed] {
        hash.update(part);
        hash.update([0]);
    }
    for law in laws {
        hash.update(law.source().to_string());
        hash.update([0]);
    }
    let digest = hash.finalize();
    format!("check/{}", hex::encode(&digest[..16]))
}
