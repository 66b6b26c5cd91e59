//! The tables agree with ICU's for every character.

use icu_properties::CodePointSetData;
use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup, JoinControl,
    VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointSetDataBorrowed};

#[test]
fn every_character_has_the_properties_that_unicode_gives_it() {
    let ignorable: CodePointSetDataBorrowed = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let direction: CodePointSetDataBorrowed = CodePointSetData::new::<BidiControl>();
    let joiners: CodePointSetDataBorrowed = CodePointSetData::new::<JoinControl>();
    let selectors: CodePointSetDataBorrowed = CodePointSetData::new::<VariationSelector>();
    let is_needed =
        |char: char| joiners.contains(char) || selectors.contains(char) && char < '\u{e0000}';
    let category = CodePointMapData::<GeneralCategory>::new();
    let separators =
        GeneralCategoryGroup::LineSeparator.union(GeneralCategoryGroup::ParagraphSeparator);
    for char in '\0'..=char::MAX {
        let found = [
            visible_text::is_ignorable(char),
            visible_text::is_invisible(char),
            visible_text::is_format(char),
            visible_text::is_direction_control(char),
            visible_text::is_line_separator(char),
        ];
        let expected = [
            ignorable.contains(char),
            ignorable.contains(char) && !is_needed(char),
            category.get(char) == GeneralCategory::Format,
            direction.contains(char),
            separators.contains(category.get(char)),
        ];
        assert_eq!(found, expected, "{char:?}");
    }
}
