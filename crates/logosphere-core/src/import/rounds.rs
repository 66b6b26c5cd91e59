//! The rounds of imported messages, and the limit of their number.

use std::num::NonZeroU32;

use jiff::Timestamp;

use super::error::ImportError;
use super::files::Import;
use super::record::RoundRule;
use crate::pool::Round;

/// The largest number of rounds of an import, and of a file of imported messages.
pub(super) const MOST_ROUNDS: u64 = 10_000;

/// Returns the rule of an import: the given one, otherwise recorded rounds if all messages have one.
pub(super) fn rule(import: &Import<'_>) -> Result<RoundRule, ImportError> {
    let is_recorded = (import.messages.iter()).all(|message| message.round.is_some());
    match import.plan.round {
        Some(RoundRule::Recorded) if !is_recorded => Err(ImportError::NoRounds),
        None if is_recorded => Ok(RoundRule::Recorded),
        None => Ok(RoundRule::default()),
        Some(rule) => Ok(rule),
    }
}

/// Returns the rounds of the messages in their new order. Seed messages are in round 0.
pub(super) fn rounds(
    import: &Import<'_>,
    order: &[usize],
    times: &[Option<Timestamp>],
    rule: RoundRule,
) -> Result<Vec<Round>, ImportError> {
    let recorded = |at: usize| import.messages[order[at]].round;
    let seeds = (0..order.len())
        .take_while(|&at| recorded(at) == Some(Round::default()))
        .count();
    let nanoseconds = |at: usize| times[order[at]].map_or(0, Timestamp::as_nanosecond);
    let first = nanoseconds(seeds.min(order.len() - 1));
    let count = order.len() - seeds;
    // Returns the round of a message, from 0.
    let number = |at: usize, rule: RoundRule| match (rule, rule.seconds()) {
        (_, Some(length)) => {
            let round = |time: i128| time.div_euclid(i128::from(length) * 1_000_000_000);
            (round(nanoseconds(at)) - round(first)) as u64
        }
        (RoundRule::Messages(size), _) => (at - seeds) as u64 / u64::from(size.get()),
        _ => u64::from(recorded(at).unwrap_or_default().before()),
    };
    if rule.seconds().is_some() {
        let untimed = order.iter().filter(|&&at| times[at].is_none()).count();
        if untimed > 0 {
            return Err(ImportError::NoTimes {
                round: rule.to_string(),
                count: untimed,
            });
        }
    }
    let of_rule = |rule| (seeds..order.len()).map(move |at| number(at, rule));
    let most = of_rule(rule).max().map_or(0, |most| most + 1);
    if most > MOST_ROUNDS {
        // Rounds of a time and of a count only grow, so the last message has the last one.
        let fits = |rule| number(order.len() - 1, rule) < MOST_ROUNDS;
        let least = match rule.seconds() {
            // First and last round are in part, so two rounds less are full of time.
            Some(_) => (most - 2) * u64::from(rule.size()) / MOST_ROUNDS,
            None => (count as u64).div_ceil(MOST_ROUNDS),
        };
        let sizes = (least.max(1)..=u32::MAX.into()).filter_map(|size| {
            let size = NonZeroU32::new(size.try_into().ok()?)?;
            Some(rule.with_size(size))
        });
        return Err(ImportError::ManyRounds {
            round: rule.to_string(),
            rounds: most,
            most: MOST_ROUNDS,
            fits: { sizes }
                .find(|rule| fits(*rule))
                .unwrap_or_default()
                .to_string(),
        });
    }
    let numbers = of_rule(rule).map(|number| Round(number as u32 + 1));
    Ok(vec![Round::default(); seeds]
        .into_iter()
        .chain(numbers)
        .collect())
}
