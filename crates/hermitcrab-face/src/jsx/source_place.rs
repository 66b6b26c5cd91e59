//! Places of a script, back in the source it was made of.

use oxc_sourcemap::SourceMap;

/// The position in the source for a position in the script made from it: line and column, from 1.
///
/// A browser counts the columns of a script in UTF-16 units; those of the source are characters. None: the map is
/// broken, or the line is none of the source's.
pub fn source_place(map: &str, line: u32, column: u32) -> Option<(u32, u32)> {
    let map = SourceMap::from_json_string(map).ok()?;
    let table = map.generate_lookup_table();
    let token = map.lookup_token_approx(&table, line.checked_sub(1)?, column.saturating_sub(1))?;
    let source = map.get_source_content(token.get_source_id()?)?;
    let text = source.split('\n').nth(token.get_src_line() as usize)?;
    let mut units = 0;
    let before = text.chars().take_while(|letter| {
        units += letter.len_utf16();
        units <= token.get_src_col() as usize
    });
    Some((token.get_src_line() + 1, before.count() as u32 + 1))
}
