//! The syntax of scripted minds: `KIND` or `KIND:NAME=VALUE,NAME=VALUE`.

use std::fmt;

use regex::Regex;

/// The rule of a scripted mind, with its parameters.
#[derive(Debug, Clone)]
pub(super) enum MindRule {
    Copier { mu: f64 },
    Mutator { p: f64 },
    Markov { n: usize },
    Biased { s: f64, kind: Regex },
    Disobedient,
    Silent,
    Flaky { rate: f64 },
    Slow { ms: u64 },
}

/// A kind of scripted mind, for help texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalMindKind {
    /// The name of the kind.
    pub name: &'static str,
    /// The answer of the mind, in a sentence.
    pub about: &'static str,
    /// The parameters of the kind.
    pub parameters: &'static [LocalMindParameter],
}

/// A parameter of a scripted mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalMindParameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// The allowed values.
    pub range: &'static str,
    /// The default value; `None` if it must be given.
    pub default: Option<&'static str>,
    /// The meaning of the value.
    pub about: &'static str,
}

impl LocalMindKind {
    /// All kinds, in the order of help texts.
    pub const ALL: &'static [Self] = &[
        kind(
            "copier",
            "Passes on one of the texts it read, each equally likely, or a new word.",
            &[parameter(
                "mu",
                SHARE,
                Some("0.05"),
                "probability of a new word",
            )],
        ),
        kind(
            "mutator",
            "Passes on one of the texts it read with words replaced, dropped or doubled.",
            &[parameter(
                "p",
                SHARE,
                Some("0.1"),
                "share of words that change",
            )],
        ),
        kind(
            "markov",
            "Writes a text by a Markov chain over the texts it read.",
            &[parameter(
                "n",
                CHAIN,
                Some("2"),
                "words that the next one depends on",
            )],
        ),
        kind(
            "biased",
            "Copies as copier does without new words, and prefers texts of a type.",
            &[
                parameter("s", BIAS, Some("0.2"), "extra weight of such a text"),
                parameter(
                    "type",
                    "a regular expression",
                    None,
                    "the texts that are preferred",
                ),
            ],
        ),
        kind(
            "disobedient",
            "Answers in ten forms, half of them against the format.",
            &[],
        ),
        kind("silent", "Ends its answer without a message.", &[]),
        kind(
            "flaky",
            "Copies, and fails now and then.",
            &[parameter(
                "rate",
                SHARE,
                Some("0.2"),
                "share of calls that fail",
            )],
        ),
        kind(
            "slow",
            "Copies, and takes its time.",
            &[parameter("ms", WAIT, Some("100"), "milliseconds of a call")],
        ),
    ];
}

const SHARE: &str = "a number from 0 to 1";
const CHAIN: &str = "a number from 1 to 8";
const BIAS: &str = "a number above -1 and at most 1000";
const WAIT: &str = "a number up to 600000";

const fn kind(
    name: &'static str,
    about: &'static str,
    parameters: &'static [LocalMindParameter],
) -> LocalMindKind {
    LocalMindKind {
        name,
        about,
        parameters,
    }
}

const fn parameter(
    name: &'static str,
    range: &'static str,
    default: Option<&'static str>,
    about: &'static str,
) -> LocalMindParameter {
    LocalMindParameter {
        name,
        range,
        default,
        about,
    }
}

/// The error of a text that does not specify a scripted mind.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MindSpecError {
    /// The kind is unknown.
    #[error("there is no local mind `{kind}`; there are: {known}")]
    Kind {
        /// The unknown kind.
        kind: String,
        /// The known kinds.
        known: String,
    },
    /// The kind does not have this parameter.
    #[error("mind `{kind}` has no parameter `{name}`; it has: {known}")]
    Parameter {
        /// The name of the kind.
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A parameter is given twice.
    #[error("mind `{kind}` has parameter `{name}` twice; give it once")]
    Twice {
        /// The name of the kind.
        kind: &'static str,
        /// The name of the parameter.
        name: String,
    },
    /// A required parameter is missing.
    #[error("mind `{kind}` needs `{name}`, such as `{example}`")]
    Missing {
        /// The name of the kind.
        kind: &'static str,
        /// The name of the parameter.
        name: &'static str,
        /// An example of the parameter.
        example: &'static str,
    },
    /// A value is not a number, or is out of range.
    #[error("`{name}` of mind `{kind}` is `{value}`, but must be {expected}")]
    Value {
        /// The name of the kind.
        kind: &'static str,
        /// The name of the parameter.
        name: &'static str,
        /// The given value.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// The value of `type` is not a regular expression.
    #[error("`type` of mind `biased` is not a regular expression")]
    Regex(#[source] regex::Error),
}

impl MindRule {
    /// Parses a specification. Parameters that are left out have their default values.
    pub(super) fn parse(spec: &str) -> Result<Self, MindSpecError> {
        let (kind, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let Some(known) = LocalMindKind::ALL.iter().find(|known| known.name == kind) else {
            let names: Vec<_> = LocalMindKind::ALL.iter().map(|known| known.name).collect();
            return Err(MindSpecError::Kind {
                kind: kind.to_owned(),
                known: names.join(", "),
            });
        };
        let kind = known.name;
        let parameters: Vec<_> = known.parameters.iter().map(|known| known.name).collect();
        let given = Given::parse(kind, &parameters, rest)?;
        Ok(match kind {
            "copier" => Self::Copier {
                mu: given.number("mu", 0.05, |mu| (0.0..=1.0).contains(&mu), SHARE)?,
            },
            "mutator" => Self::Mutator {
                p: given.number("p", 0.1, |p| (0.0..=1.0).contains(&p), SHARE)?,
            },
            "markov" => Self::Markov {
                n: given.number("n", 2, |n| (1..=8).contains(&n), CHAIN)?,
            },
            "biased" => {
                let within = |s| s > -1.0 && s <= 1000.0;
                let pattern = given.get("type").ok_or(MindSpecError::Missing {
                    kind,
                    name: "type",
                    example: "biased:s=0.2,type=moon|tide",
                })?;
                Self::Biased {
                    s: given.number("s", 0.2, within, BIAS)?,
                    kind: Regex::new(pattern).map_err(MindSpecError::Regex)?,
                }
            }
            "disobedient" => Self::Disobedient,
            "silent" => Self::Silent,
            "flaky" => Self::Flaky {
                rate: given.number("rate", 0.2, |rate| (0.0..=1.0).contains(&rate), SHARE)?,
            },
            _ => Self::Slow {
                ms: given.number("ms", 100, |ms| ms <= 600_000, WAIT)?,
            },
        })
    }
}

impl fmt::Display for MindRule {
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

/// The parameters of a specification.
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
