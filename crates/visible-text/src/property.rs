//! The properties of Unicode 17 by which a character is not seen.

/// Returns whether a character is drawn as nothing where no font or script says otherwise: the property
/// `Default_Ignorable_Code_Point`.
pub const fn is_ignorable(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character is drawn as nothing and no ordinary text needs it: ignorable, but not a joiner of scripts and
/// emoji, nor one of their variation selectors below U+E0000.
pub const fn is_invisible(char: char) -> bool {
    let is_needed = matches!(char,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{200c}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    is_ignorable(char) && !is_needed
}

/// Returns whether a character only formats its neighbours: the general category `Cf`.
pub const fn is_format(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}'
        | '\u{e0020}'..='\u{e007f}')
}

/// Returns whether a character changes the direction in which a text is read: the property `Bidi_Control`.
pub const fn is_direction_control(char: char) -> bool {
    matches!(char,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character ends a line or a paragraph without being a control: the general categories `Zl` and `Zp`.
pub const fn is_line_separator(char: char) -> bool {
    matches!(char, '\u{2028}' | '\u{2029}')
}
