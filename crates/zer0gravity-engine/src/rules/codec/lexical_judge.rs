//! Judges without a model: text metrics for the meaning, and a check of each line for the rules.

use crate::judge::score::{MAX_IMPLEMENTABILITY, MAX_SEMANTIC, points};
use crate::metrics::{chrf_pp, compare_atoms, rouge_l};
use crate::rules::codec::syntax::rules;
use crate::rules::lint::ambiguous_lines;

/// The version of [`lexical_semantic`]: 2 since it counts atoms.
pub(crate) const LEXICAL_JUDGE_VERSION: u32 = 2;

/// The most points of a text with a critical finding.
const MOST_WITH_CRITICAL: u8 = 15;

/// The points of a lexical judge, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LexicalVerdict {
    /// The points, 0 to 40 for meaning and 0 to 5 for rules.
    pub score: u8,
    /// The reason in one line; begins with `offline:`.
    pub reasoning: String,
}

/// Scores the similarity of `decoded` to `original`, 0 to 40. Texts that differ in white space only get 40 points. Otherwise the
/// weights are 0.35 for chrF++, 0.35 for ROUGE-L and 0.3 for the kept critical atoms; without such atoms 0.5 for each of the first two.
/// A decoded text that lost, changed or invented a critical atom gets 15 points at most.
///
/// ```
/// use zer0gravity_engine::rules::codec::lexical_semantic;
/// assert_eq!(lexical_semantic("Hello  world!", "Hello world!").score, 40);
/// let verdict = lexical_semantic("Hello world!", "Hello, world");
/// assert_eq!(verdict.score, 30);
/// assert!(verdict.reasoning.starts_with("offline: "));
/// ```
pub fn lexical_semantic(original: &str, decoded: &str) -> LexicalVerdict {
    if original.split_whitespace().eq(decoded.split_whitespace()) {
        return LexicalVerdict {
            score: MAX_SEMANTIC,
            reasoning: "offline: the texts are the same".to_owned(),
        };
    }
    let chrf = chrf_pp(original, decoded);
    let rouge = rouge_l(original, decoded);
    let atoms = compare_atoms(original, decoded);
    let recall = atoms.critical_recall();
    let share = match recall {
        Some(recall) => 0.35 * chrf / 100.0 + 0.35 * rouge + 0.3 * recall,
        None => 0.5 * chrf / 100.0 + 0.5 * rouge,
    };
    let critical = atoms.critical().count();
    let most = if critical > 0 {
        MOST_WITH_CRITICAL
    } else {
        MAX_SEMANTIC
    };
    let recall = match recall {
        Some(recall) => format!("critical recall {recall:.2}"),
        None if atoms.is_truncated() => "atoms not compared, too long a text".to_owned(),
        None => "no critical atoms".to_owned(),
    };
    LexicalVerdict {
        score: points(f64::from(MAX_SEMANTIC) * share, MAX_SEMANTIC).min(most),
        reasoning: format!(
            "offline: chrF++ {chrf:.1}, ROUGE-L {rouge:.2}, {recall}, critical findings {critical}"
        ),
    }
}

/// Scores the implementability of `rules_text`: 5 if every line is mechanical and unambiguous, 3 if at least half are, else 0.
///
/// ```
/// use zer0gravity_engine::{DEFAULT_RULES, rules::codec::rule_implementability};
/// assert_eq!(rule_implementability(DEFAULT_RULES).score, 3);
/// assert_eq!(rule_implementability("DROP VOWELS").score, 5);
/// assert_eq!(rule_implementability("Be brief.").score, 0);
/// ```
pub fn rule_implementability(rules_text: &str) -> LexicalVerdict {
    let rules = rules(rules_text);
    let ambiguous = ambiguous_lines(&rules);
    let clear = rules
        .iter()
        .filter(|rule| rule.is_mechanical() && !ambiguous.contains(&rule.line))
        .count();
    let lines = rules.len();
    let score = if lines == 0 {
        0
    } else if clear == lines {
        MAX_IMPLEMENTABILITY
    } else if clear * 2 >= lines {
        3
    } else {
        0
    };
    LexicalVerdict {
        score,
        reasoning: format!("offline: {clear} of {lines} rules are mechanical and unambiguous"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_weigh_where_there_are_any() {
        let verdict = lexical_semantic("Take 3 apples, not 4.", "Take 3 pears, not 5.");
        assert_eq!(verdict.score, 15);
        assert!(
            verdict
                .reasoning
                .starts_with("offline: chrF++ 40.5, ROUGE-L 0.60, critical recall "),
            "{verdict:?}"
        );
        // 40 * (0.35 * 0.6395 + 0.35 * 0.8571 + 0.3)
        let kept = lexical_semantic("Take 3 apples, not 4.", "Take 3 pears, not 4.");
        assert!(kept.score > 25, "{kept:?}");
        assert_eq!(lexical_semantic("a", "").score, 0);
        assert_eq!(lexical_semantic(" ", "").score, 40);
    }

    #[test]
    fn a_rule_must_be_clear() {
        for (rules, score) in [
            ("", 0),
            ("\n \n", 0),
            ("'you'→'ü'\nBe brief.", 3),
            ("'you'→'u'\nBe brief.\nBe nice.", 0),
            ("'you'→'u'\n'your'→'u'", 0),
            ("'and'→'&'", 0),
            ("'and'→'&'\nDrop vowels", 3),
            ("you -> ü\nDROP WORDS a, the\nCOLLAPSE SPACE", 5),
        ] {
            assert_eq!(rule_implementability(rules).score, score, "{rules:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_texts_are_judged(original in "\\PC*", decoded in "\\PC*") {
            let verdict = lexical_semantic(&original, &decoded);
            proptest::prop_assert!(verdict.score <= MAX_SEMANTIC);
            proptest::prop_assert_eq!(lexical_semantic(&original, &decoded), verdict);
            proptest::prop_assert!(rule_implementability(&original).score <= MAX_IMPLEMENTABILITY);
        }
    }
}
