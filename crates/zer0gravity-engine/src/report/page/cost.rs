//! The number of messages after which the rules have paid for themselves.

use report_kit::{Axis, Cell, Plot, Section, Series, Table};

use super::{ROWS, SIGNS, number};
use crate::TokenSource;
use crate::judge::number::rounded;
use crate::report::RunReport;
use crate::report::grouped::total;

/// Messages that share one copy of the rules.
const MESSAGES: [u32; 3] = [1, 10, 100];

/// Messages at which the curve is drawn.
const STEPS: [u32; 19] = [
    1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000,
];

/// An encoding's tokens over all of its scored results.
struct Balance<'a> {
    encoding: &'a str,
    /// The tokens of the rules.
    rules: u64,
    /// Whether the tokens of the rules are an estimate.
    estimated: bool,
    /// The number of scored results.
    texts: f64,
    original: f64,
    encoded: f64,
}

impl Balance<'_> {
    /// The saved percent when `messages` share one copy of the rules.
    fn saved(&self, messages: f64) -> f64 {
        let rules = self.rules as f64 * self.texts / messages;
        (self.original - self.encoded - rules) / self.original * 100.0
    }

    /// The number of messages from which on something is saved; `None` if nothing ever is.
    fn break_even(&self) -> Option<f64> {
        let saved = self.original - self.encoded;
        (saved > 0.0).then(|| (self.rules as f64 * self.texts / saved).ceil())
    }
}

fn balances(report: &RunReport) -> Vec<Balance<'_>> {
    let encodings = report.encodings.iter();
    encodings
        .filter_map(|encoding| {
            let mut balance = Balance {
                encoding: &encoding.id,
                rules: encoding.rules_tokens?,
                estimated: encoding.rules_tokens_source == Some(TokenSource::Local),
                texts: 0.0,
                original: 0.0,
                encoded: 0.0,
            };
            let own = report
                .results
                .iter()
                .filter(|r| r.encoding_id == encoding.id);
            for result in own.filter(|result| total(result).is_some()) {
                let (Some(original), Some(encoded)) =
                    (result.original_tokens, result.encoded_tokens)
                else {
                    continue;
                };
                balance.texts += 1.0;
                balance.original += original as f64;
                balance.encoded += encoded as f64;
            }
            (balance.original > 0.0).then_some(balance)
        })
        .collect()
}

pub(super) fn section(report: &RunReport) -> Option<Section> {
    let balances = balances(report);
    if balances.is_empty() {
        return None;
    }
    let columns = [
        "Encoding system",
        "Tokens of the rules",
        "1 message",
        "10 messages",
        "100 messages",
        "Unlimited",
        "Break-even, messages",
    ];
    let rows = balances.iter().map(|balance| {
        let [one, ten, hundred] = MESSAGES.map(|messages| {
            let saved = balance.saved(f64::from(messages));
            number(Some(saved), 1)
        });
        [
            Cell::text(balance.encoding),
            if balance.estimated {
                Cell::text(format!("{} (estimate)", balance.rules))
            } else {
                balance.rules.into()
            },
            one,
            ten,
            hundred,
            number(Some(balance.saved(f64::INFINITY)), 1),
            (balance.break_even()).map_or_else(|| "never".into(), |m| Cell::number(m, 0)),
        ]
    });
    let table = Table::new(
        "Tokens saved in percent, by the number of messages that share one copy of the rules",
        columns,
    );
    let section = Section::new("Token savings").anchor("cost").text(
        "The decoder needs the rules, too. Shares are of the tokens of all scored texts; below zero the rules cost more than the encoding saves. The last column is the number of messages from which it pays.",
    );
    let section = section.table(table.rows(rows).limit(ROWS));
    if balances.len() > SIGNS {
        return Some(section);
    }
    let x = Axis::new("messages that share the rules").log();
    let plot = Plot::xy(
        "Savings by number of messages",
        x,
        Axis::new("tokens saved, %").including(0.0),
    );
    let plot = balances.iter().fold(plot, |plot, balance| {
        // From where the curve is not yet a cliff.
        let points = STEPS.map(|messages| {
            let messages = f64::from(messages);
            (messages, rounded(balance.saved(messages), 2))
        });
        let points = points.into_iter().filter(|(_, saved)| *saved >= -100.0);
        plot.with(Series::line(balance.encoding, points))
    });
    Some(section.plot(plot))
}
