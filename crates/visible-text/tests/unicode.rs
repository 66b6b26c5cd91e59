//! The tables agree with ICU's for every character.

use icu_properties::CodePointSetData;
use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup,
};
use icu_properties::{CodePointMapData, CodePointSetDataBorrowed};

#[test]
fn every_character_has_the_properties_that_unicode_gives_it() {
    let ignorable: CodePointSetDataBorrowed = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let direction: CodePointSetDataBorrowed = CodePointSetData::new::<BidiControl>();
    let category = CodePointMapData::<GeneralCategory>::new();
    let separators =
        GeneralCategoryGroup::LineSeparator.union(GeneralCategoryGroup::ParagraphSeparator);
    for char in '\0'..=char::MAX {
        let found = [
            visible_text::is_ignorable(char),
            visible_text::is_format(char),
            visible_text::is_direction_control(char),
            visible_text::is_line_separator(char),
        ];
        let expected = [
            ignorable.contains(char),
            category.get(char) == GeneralCategory::Format,
            direction.contains(char),
            separators.contains(category.get(char)),
        ];
        assert_eq!(found, expected, "{char:?}");
    }
}
