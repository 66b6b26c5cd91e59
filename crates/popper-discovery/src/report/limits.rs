//! The limits of the numbers.

use report_kit::Section;

use super::cells::counted;
use super::discovery_report::DiscoveryReport;
use crate::enumerative::EnumerativeProposer;

pub(super) fn section(report: &DiscoveryReport) -> Section {
    let mut sentences = vec![
        format!("Every verdict is about the universe {} alone.", report.run.universe_id),
        "A proof holds for every ring size and every step. Exhausted and sampled laws were not refuted by the cases of the section on test power, and may fail on others.".to_owned(),
    ];
    if report.run.discovery_model_id == EnumerativeProposer::ID {
        sentences.push("The proposer is a program that lists forms of laws, so the numbers say nothing about a model.".to_owned());
    } else {
        sentences
            .push("One run of a model was recorded; another run may find other laws.".to_owned());
    }
    if let Some(width) = report.recall.iter().map(|reach| reach.width).max() {
        sentences.push(format!(
            "The list of conserved quantities is complete for sums over windows of up to {}, and says nothing about others.",
            counted(width as u64, "cell", "cells")
        ));
    }
    if report.verdicts.unknown > 0 {
        sentences.push("An undecided law is neither confirmed nor refuted.".to_owned());
    }
    if report.known > 0 {
        sentences.push(format!(
            "{} known from another run in the same database and not decided again.",
            counted(report.known, "verdict was", "verdicts were")
        ));
    }
    Section::new("Limits")
        .anchor("limits")
        .text(sentences.join(" "))
}
