//! How a local mind is asked for: `KIND` or `KIND:NAME=VALUE,NAME=VALUE`.

use std::fmt;

use regex::Regex;

/// What a local mind does.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Copier { mu: f64 },
    Mutator { p: f64 },
    Markov { n: usize },
    Biased { s: f64, kind: Regex },
    Disobedient,
    Silent,
    Flaky { rate: f64 },
    Slow { ms: u64 },
}

/// Every kind and its parameters.
const KINDS: [(&str, &[&str]); 8] = [
    ("copier", &["mu"]),
    ("mutator", &["p"]),
    ("markov", &["n"]),
    ("biased", &["s", "type"]),
    ("disobedient", &[]),
    ("silent", &[]),
    ("flaky", &["rate"]),
    ("slow", &["ms"]),
];

/// Why there is no such local mind.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MindSpecError {
    /// The kind is unknown.
    #[error("there is no local mind `{kind}`; there are: {known}")]
    Kind {
        /// What was asked for.
        kind: String,
        /// What there is.
        known: String,
    },
    /// The kind does not have this parameter.
    #[error("mind `{kind}` has no parameter `{name}`; it has: {known}")]
    Parameter {
        /// The kind.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The names that it has.
        known: String,
    },
    /// A parameter stands twice.
    #[error("mind `{kind}` has parameter `{name}` twice; give it once")]
    Twice {
        /// The kind.
        kind: &'static str,
        /// The parameter.
        name: String,
    },
    /// A parameter must be given.
    #[error("mind `{kind}` needs `{name}`, such as `{example}`")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The parameter.
        name: &'static str,
        /// How it may look.
        example: &'static str,
    },
    /// A value is no number, or too small or too large.
    #[error("`{name}` of mind `{kind}` is `{value}`, but must be {expected}")]
    Value {
        /// The kind.
        kind: &'static str,
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        expected: &'static str,
    },
    /// `type` is no regular expression.
    #[error("`type` of mind `biased` is no regular expression")]
    Regex(#[source] regex::Error),
}

impl Kind {
    /// Reads what was asked for. Parameters that are not given have the values of the specification.
    pub(super) fn parse(spec: &str) -> Result<Self, MindSpecError> {
        let (kind, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let Some((kind, known)) = KINDS.into_iter().find(|(name, _)| *name == kind) else {
            return Err(MindSpecError::Kind {
                kind: kind.to_owned(),
                known: KINDS.map(|(name, _)| name).join(", "),
            });
        };
        let given = Given::parse(kind, known, rest)?;
        let share = "a number from 0 to 1";
        Ok(match kind {
            "copier" => Self::Copier {
                mu: given.number("mu", 0.05, |mu| (0.0..=1.0).contains(&mu), share)?,
            },
            "mutator" => Self::Mutator {
                p: given.number("p", 0.1, |p| (0.0..=1.0).contains(&p), share)?,
            },
            "markov" => Self::Markov {
                n: given.number("n", 2, |n| (1..=8).contains(&n), "a number from 1 to 8")?,
            },
            "biased" => {
                let limits = "a number above -1 and at most 1000";
                let within = |s| s > -1.0 && s <= 1000.0;
                let pattern = given.get("type").ok_or(MindSpecError::Missing {
                    kind,
                    name: "type",
                    example: "biased:s=0.2,type=moon|tide",
                })?;
                Self::Biased {
                    s: given.number("s", 0.2, within, limits)?,
                    kind: Regex::new(pattern).map_err(MindSpecError::Regex)?,
                }
            }
            "disobedient" => Self::Disobedient,
            "silent" => Self::Silent,
            "flaky" => Self::Flaky {
                rate: given.number("rate", 0.2, |rate| (0.0..=1.0).contains(&rate), share)?,
            },
            _ => Self::Slow {
                ms: given.number("ms", 100, |ms| ms <= 600_000, "a number up to 600000")?,
            },
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copier { mu } => write!(f, "copier:mu={mu}"),
            Self::Mutator { p } => write!(f, "mutator:p={p}"),
            Self::Markov { n } => write!(f, "markov:n={n}"),
            Self::Biased { s, kind } => write!(f, "biased:s={s},type={kind}"),
            Self::Disobedient => f.write_str("disobedient"),
            Self::Silent => f.write_str("silent"),
            Self::Flaky { rate } => write!(f, "flaky:rate={rate}"),
            Self::Slow { ms } => write!(f, "slow:ms={ms}"),
        }
    }
}

/// The parameters as they were given.
struct Given<'a> {
    kind: &'static str,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Given<'a> {
    fn parse(
        kind: &'static str,
        known: &[&'static str],
        mut rest: &'a str,
    ) -> Result<Self, MindSpecError> {
        let mut values: Vec<(&str, &str)> = Vec::new();
        while !rest.is_empty() {
            // A regular expression may hold commas: `type` takes all that follows.
            let end = if rest.starts_with("type=") {
                None
            } else {
                rest.find(',')
            };
            let parameter = &rest[..end.unwrap_or(rest.len())];
            rest = end.map_or("", |end| &rest[end + 1..]);
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let name = name.trim();
            if !known.contains(&name) {
                return Err(MindSpecError::Parameter {
                    kind,
                    name: name.to_owned(),
                    known: match known {
                        [] => "none".to_owned(),
                        known => known.join(", "),
                    },
                });
            }
            if values.iter().any(|(given, _)| *given == name) {
                return Err(MindSpecError::Twice {
                    kind,
                    name: name.to_owned(),
                });
            }
            values.push((name, value));
        }
        Ok(Self { kind, values })
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.values.iter().find(|(given, _)| *given == name);
        found.map(|(_, value)| *value)
    }

    fn number<T: std::str::FromStr + Copy>(
        &self,
        name: &'static str,
        default: T,
        within: impl Fn(T) -> bool,
        expected: &'static str,
    ) -> Result<T, MindSpecError> {
        let Some(value) = self.get(name) else {
            return Ok(default);
        };
        let number = value.trim().parse().ok().filter(|number| within(*number));
        number.ok_or_else(|| MindSpecError::Value {
            kind: self.kind,
            name,
            value: value.to_owned(),
            expected,
        })
    }
}
