//! The limits of the numbers.

use report_kit::{Section, Status};

use super::data::ReportData;

/// Returns the section with the limits, and with the notices that are not at the top of the page.
pub(super) fn section(
    data: &ReportData,
    notices: impl Iterator<Item = (Status, String)>,
) -> Section {
    let mut sentences = vec![match data.facts() {
        Some(facts) => format!(
            "This is one run with the seed {}; another seed gives another course.",
            facts.settings.seed
        ),
        None => {
            "This is one history, and messages that are not in the files may have been read, too."
                .to_owned()
        }
    }];
    sentences.push("Which text a message comes from is inferred from common words, so lines of descent may be wrong.".to_owned());
    let compared = data.analysis.comparison.iter();
    let is_compared = compared.flat_map(|found| &found.tests).next().is_some();
    sentences.push(if is_compared {
        "The null runs were checked on scripted minds that copy and change texts, not on models. A difference from them has no single cause.".to_owned()
    } else {
        "Without a null model nothing shows whether chance gives the same numbers.".to_owned()
    });
    let section = Section::new("Limits")
        .anchor("limits")
        .text(sentences.join(" "));
    notices.fold(section, |section, (tone, text)| section.notice(tone, text))
}
