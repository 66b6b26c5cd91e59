//! The survival of lines of descent.

use serde::Serialize;

use super::tree::Lineage;

/// The share of lines that survive a number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Survival {
    /// The number of rounds since the line began.
    pub rounds: u32,
    /// The number of lines that were observed up to this time.
    pub at_risk: u32,
    /// The number of lines that ended at this time.
    pub ended: u32,
    /// The share that survives, by the Kaplan-Meier estimate. Lines that exist when the run ends are censored.
    pub share: f64,
}

/// Returns the survival of all lines, with a step for each time at which some end.
///
/// A line is a seed message or an innovation with its descendants. It ends with the first round at whose end none of it
/// is readable.
pub(super) fn survival(lineage: &Lineage) -> Vec<Survival> {
    let last = lineage.windows().len();
    // The window behind the last one that a member of each root's line is in.
    let mut behind = vec![0; lineage.nodes().len()];
    for node in lineage.nodes() {
        let readable = lineage.readable(node.id.index());
        let line = &mut behind[node.root.index()];
        *line = readable.end.max(*line);
    }
    // How many lines ended, and how many went out of sight, after so many rounds.
    let mut steps = vec![[0_u32; 2]; last + 1];
    let mut at_risk = 0;
    for root in lineage
        .nodes()
        .iter()
        .filter(|node| node.parents.is_empty())
    {
        let began = lineage.readable(root.id.index()).start;
        if began == last {
            // Of a round that did not end: nothing is known of it.
            continue;
        }
        let behind = behind[root.id.index()];
        let rounds = behind.saturating_sub(began);
        at_risk += 1;
        if behind == last {
            steps[rounds][1] += 1;
        } else {
            steps[rounds][0] += 1;
        }
    }
    let mut share = 1.0;
    let mut curve = Vec::new();
    for (rounds, [ended, unseen]) in steps.into_iter().enumerate() {
        if ended > 0 {
            share *= f64::from(at_risk - ended) / f64::from(at_risk);
            curve.push(Survival {
                rounds: rounds as u32,
                at_risk,
                ended,
                share,
            });
        }
        at_risk -= ended + unseen;
    }
    curve
}
