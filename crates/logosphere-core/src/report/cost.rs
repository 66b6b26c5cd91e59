//! The section about cost and tokens.

use report_kit::{Axis, Cell, Plot, Section, Series};

use super::data::ReportData;
use super::facts::RunFacts;
use super::shown::{drawn, number};

pub(super) fn section(data: &ReportData, facts: &RunFacts) -> Section {
    let mut latencies: Vec<_> = data
        .transcript
        .calls
        .iter()
        .map(|call| call.latency_ms)
        .collect();
    latencies.sort_unstable();
    let latency = |share: f64| {
        let place = (share * latencies.len() as f64) as usize;
        Cell::from(
            latencies
                .get(place.min(latencies.len().saturating_sub(1)))
                .copied(),
        )
    };
    let section = Section::new("Cost").anchor("cost").facts([
        ("Calls", Cell::from(data.transcript.calls.len())),
        ("Retries", facts.retries.into()),
        ("Tokens of the prompts", facts.tokens.prompt.into()),
        ("Tokens of the answers", facts.tokens.completion.into()),
        ("Dollars", number(facts.cost_usd, 6)),
        ("Latency, median, ms", latency(0.5)),
        ("Latency, 95th percentile, ms", latency(0.95)),
    ]);
    let section = if facts.estimated {
        section.text("Token counts are estimates.")
    } else {
        section
    };
    if facts.rounds.is_empty() {
        return section;
    }
    let rounds = || drawn(&facts.rounds);
    let x = || Axis::new("round");
    let tokens = Plot::xy("Tokens so far", x(), Axis::new("tokens").including(0.0))
        .with(Series::line(
            "prompts",
            rounds().map(|round| (f64::from(round.round), round.tokens.prompt as f64)),
        ))
        .with(Series::line(
            "answers",
            rounds().map(|round| (f64::from(round.round), round.tokens.completion as f64)),
        ));
    let tokens = Section::new("Tokens").plot(tokens);
    let dollars: Vec<_> = rounds()
        .filter_map(|round| Some((f64::from(round.round), round.cost_usd?)))
        .collect();
    let y = Axis::new("dollars").including(0.0);
    let dollars = (!dollars.is_empty())
        .then(|| Section::new("Dollars").plot(Plot::line("Dollars so far", x(), y, dollars)));
    let rounds = Section::new("Round by round").folded();
    section.section(rounds.columns(std::iter::once(tokens).chain(dollars)))
}
