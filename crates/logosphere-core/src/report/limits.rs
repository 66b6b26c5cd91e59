//! The limits of the numbers.

use report_kit::{Section, Status};

use super::data::ReportData;

/// Returns the section with the limits, and with the notices that are not at the top of the page.
pub(super) fn section(
    data: &ReportData,
    notices: impl Iterator<Item = (Status, String)>,
) -> Section {
    let mut sentences = vec![format!(
        "This is one run with the seed {}; another seed gives another course.",
        data.facts.settings.seed
    )];
    sentences.push("Which text a message comes from is inferred from common words, so lines of descent may be wrong.".to_owned());
    let metrics = data.analysis.metrics.iter();
    let compared = metrics.filter(|measured| measured.null.is_some()).count();
    sentences.push(match compared {
        0 => "Without a null model nothing shows whether chance gives the same numbers.".to_owned(),
        count => format!(
            "A null model is one form of chance, and a distance from it has no single cause. {count} measures are compared, so {:.1} of them are expected below p = 0.05 by chance.",
            0.05 * count as f64
        ),
    });
    let section = Section::new("Limits")
        .anchor("limits")
        .text(sentences.join(" "));
    notices.fold(section, |section, (tone, text)| section.notice(tone, text))
}
