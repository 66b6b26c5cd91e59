//! Whether a new run may pass.

use super::RunReport;
use super::compare::Comparison;

/// Two drops on paper equal may differ in the last bits.
const SLACK: f64 = 1e-9;

/// The limits that a new run must respect.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The largest drop of an encoding's mean that may pass, in points; `None` asks for no verdict.
    pub max_drop: Option<f64>,
    /// Lets a run pass that another judge has scored.
    pub allow_changed_judge: bool,
    /// Lets no drop beyond the limit pass, even if chance may give it.
    pub strict: bool,
}

impl From<Option<f64>> for Limits {
    fn from(max_drop: Option<f64>) -> Self {
        Self {
            max_drop,
            ..Self::default()
        }
    }
}

impl Limits {
    /// Allows another judge for the new run.
    #[must_use]
    pub fn allowing_changed_judge(self, allow: bool) -> Self {
        Self {
            allow_changed_judge: allow,
            ..self
        }
    }

    /// Refuses a drop beyond the limit, even if chance may give it.
    #[must_use]
    pub fn strict(self, strict: bool) -> Self {
        Self { strict, ..self }
    }
}

/// Compares two runs. A `max_drop` (points, 0 and more) asks for a verdict: the new run holds if no encoding's mean over common
/// cases drops significantly by more, no item newly failed, nothing that had a score is missing, the same judge scored both,
/// and there is something to compare at all.
///
/// A drop is significant if the one-sided 95 % bound of the mean difference over cases, by Student's t, lies below 0. Equal
/// drops have no spread and are significant from 5 cases, by the sign-flip test ([`drop_p`](crate::metrics::stats::drop_p)). Over
/// several encodings Holm's rule keeps the share of unchanged runs that fail at 5 %. With [`Limits::strict`] every larger
/// drop fails, which judges that give other points to the same text produce by themselves.
///
/// ```
/// use zer0gravity_engine::report::{RunReport, compare};
/// let nothing = RunReport::read("[]").unwrap();
/// assert!(compare(&nothing, &nothing, None).holds);
/// assert!(!compare(&nothing, &nothing, Some(2.0)).holds);
/// ```
pub fn compare(old: &RunReport, new: &RunReport, limits: impl Into<Limits>) -> Comparison {
    let limits = limits.into();
    let mut comparison = Comparison::of(old, new);
    comparison.max_drop = limits.max_drop;
    if let Some(max_drop) = limits.max_drop {
        comparison.judge_drops(max_drop, limits.strict);
        let others = comparison.reasons(limits.allow_changed_judge);
        comparison.reasons.extend(others);
        comparison.holds = comparison.reasons.is_empty();
    }
    comparison
}

impl Comparison {
    /// Tells drops beyond the limit that may not pass from those that chance may give.
    fn judge_drops(&mut self, max_drop: f64, strict: bool) {
        for encoding in &self.per_encoding {
            let drop = -encoding.mean_difference.unwrap_or_default();
            // So written, a limit that is no number lets nothing pass, and one below 0 asks for a gain.
            if drop <= max_drop + SLACK {
                continue;
            }
            if strict || encoding.is_significant_drop() || max_drop.is_nan() || max_drop < 0.0 {
                self.reasons.push(format!(
                    "{} drops by {drop:.2} points over {}; the limit is {max_drop}",
                    encoding.id,
                    counted(encoding.pairs, "common case", "common cases"),
                ));
                continue;
            }
            let needed = match (encoding.pairs, encoding.texts_needed) {
                (1, _) => "; at least 2 texts are needed".to_owned(),
                (_, Some(texts)) => format!("; about {texts} texts are needed"),
                (_, None) => String::new(),
            };
            self.not_significant.push(format!(
                "{}: drop {drop:.1} points, not significant (n = {}{needed}); --strict fails on it",
                encoding.id, encoding.pairs,
            ));
        }
    }

    fn reasons(&self, allow_changed_judge: bool) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some([old, new]) = self
            .changes
            .judges
            .as_ref()
            .filter(|_| !allow_changed_judge)
        {
            reasons.push(format!("not comparable: judge differs ({old}, {new})"));
        }
        if let Some(first) = self.changes.partial.first() {
            reasons.push(format!(
                "not comparable: {} scored of 95 points because no rules were given, the first {} of {}",
                counted(self.changes.partial.len(), "item is", "items are"),
                first.test_case_id,
                first.encoding_id,
            ));
        }
        if let Some(first) = self.newly_failed.first() {
            let (item, outcome) = (&first.item, &first.outcome);
            let stage = outcome.stage.map_or("", |stage| stage.as_str());
            reasons.push(format!(
                "{} failed that did not before, the first {} of {}: {} at {stage}",
                counted(self.newly_failed.len(), "item", "items"),
                item.test_case_id,
                item.encoding_id,
                outcome.status,
            ));
        }
        if let Some(first) = self.missing.first() {
            reasons.push(format!(
                "{} had a score and {} not in the new run, the first {} of {}",
                counted(
                    self.missing.len(),
                    "pair of encoding and case",
                    "pairs of encoding and case",
                ),
                if self.missing.len() == 1 { "is" } else { "are" },
                first.test_case_id,
                first.encoding_id,
            ));
        }
        if self.overall.pairs == 0 {
            reasons.push("the runs have no scored pair of encoding and case in common".to_owned());
        }
        reasons
    }
}

/// Writes a p value with three decimals, such as `p = 0.250`, or as `p < 0.001`: no test gives a p of 0.
pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "p < 0.001".to_owned()
    } else {
        format!("p = {p:.3}")
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
