//! The text of a page's bytes, as the Encoding Standard reads it.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The bytes of a page that are searched for a `<meta>` with its encoding.
const PRESCAN: usize = 1024;

/// Decodes by the byte order mark, else as `content_type` says, else, in HTML, as a `<meta>` says; else UTF-8 if it is that, and
/// windows-1252 if not. What the encoding does not have shows replacement characters.
///
/// Bytes that were `cut` off may end within a character.
pub(super) fn decode(bytes: &[u8], content_type: Option<&str>, is_html: bool, cut: bool) -> String {
    let named = || content_type.and_then(|named| label(named.as_bytes()));
    let in_page = || is_html.then(|| meta(bytes)).flatten();
    let encoding = named()
        .or_else(in_page)
        .unwrap_or_else(|| guess(bytes, cut));
    // Takes the byte order mark before all of these.
    encoding.decode(bytes).0.into_owned()
}

fn guess(bytes: &[u8], cut: bool) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if !cut || error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    }
}

/// The encoding after `charset=`.
fn label(text: &[u8]) -> Option<&'static Encoding> {
    const CHARSET: &[u8] = b"charset";
    let at = position(text, CHARSET)?;
    let value = text[at + CHARSET.len()..].trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    let (value, is_end): (_, fn(&u8) -> bool) = match value.first()? {
        b'"' => (&value[1..], |byte| *byte == b'"'),
        b'\'' => (&value[1..], |byte| *byte == b'\''),
        _ => (value, |byte| {
            byte.is_ascii_whitespace() || matches!(byte, b';' | b'"' | b'\'' | b'>' | b'/')
        }),
    };
    let end = value.iter().position(is_end).unwrap_or(value.len());
    Encoding::for_label(&value[..end])
}

/// The encoding that the first `<meta>` with a known one names. A page that can be read so far is not in UTF-16.
fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut rest = &bytes[..bytes.len().min(PRESCAN)];
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            rest = &rest[position(rest, b"-->")?..];
            continue;
        }
        let end = rest.iter().position(|byte| *byte == b'>')?;
        let tag = &rest[..end];
        let is_meta = (tag.get(1..5)).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
        if let Some(encoding) = label(tag).filter(|_| is_meta) {
            return Some(match encoding {
                utf_16 if utf_16 == UTF_16LE || utf_16 == UTF_16BE => UTF_8,
                own if own == X_USER_DEFINED => WINDOWS_1252,
                other => other,
            });
        }
        rest = &rest[end..];
    }
    None
}

/// The first position of `wanted`, in lower case.
fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUSSIAN: &[u8] = b"\xcf\xf0\xe8\xe2\xe5\xf2";

    /// Bytes of an HTML page, its content type, and its text.
    type Case<'a> = (Vec<u8>, Option<&'a str>, &'a str);

    fn check<const N: usize>(cases: [Case<'_>; N]) {
        for (bytes, content_type, text) in cases {
            let read = decode(&bytes, content_type, true, false);
            assert_eq!(read, text, "{content_type:?}");
        }
    }

    #[test]
    fn the_server_names_the_encoding() {
        check([
            // The byte order mark comes before all.
            (
                b"\xef\xbb\xbf\xd0\xb9".to_vec(),
                Some("text/plain; charset=latin1"),
                "\u{439}",
            ),
            (b"\xff\xfeh\0i\0".to_vec(), None, "hi"),
            (b"\xfe\xff\0h\0i".to_vec(), Some("text/html"), "hi"),
            // The header, in every way of writing it.
            (
                b"\x93a\x94".to_vec(),
                Some("text/html; charset=windows-1252"),
                "\u{201c}a\u{201d}",
            ),
            (
                b"\x93a\x94".to_vec(),
                Some("text/html; charset=ISO-8859-1"),
                "\u{201c}a\u{201d}",
            ),
            (
                RUSSIAN.to_vec(),
                Some("text/plain; Charset = \"windows-1251\""),
                "Привет",
            ),
            (
                b"\x93\xfa\x96\x7b".to_vec(),
                Some("text/html;charset=Shift_JIS"),
                "日本",
            ),
            (
                b"\xc4\xe3\xba\xc3".to_vec(),
                Some("text/html; charset='gb2312'"),
                "你好",
            ),
            (
                b"h\0i\0".to_vec(),
                Some("text/plain; charset=utf-16le"),
                "hi",
            ),
        ]);
    }

    #[test]
    fn the_page_names_the_encoding() {
        let html = |head: &str, body: &[u8]| [head.as_bytes(), body].concat();
        check([
            (
                html("<meta charset=windows-1251>", RUSSIAN),
                Some("text/html"),
                "<meta charset=windows-1251>Привет",
            ),
            (
                html("<META CHARSET=\"koi8-r\"/>", b"\xf0"),
                None,
                "<META CHARSET=\"koi8-r\"/>П",
            ),
            (
                html(
                    "<meta http-equiv=content-type content='text/html; charset=gbk'>",
                    b"\xc4\xe3",
                ),
                None,
                "<meta http-equiv=content-type content='text/html; charset=gbk'>你",
            ),
            (
                html("<meta charset=utf-16>", "é".as_bytes()),
                None,
                "<meta charset=utf-16>é",
            ),
            // The header before the page, and a name that nobody knows is none.
            (
                html("<meta charset=koi8-r>", "é".as_bytes()),
                Some("text/html; charset=utf-8"),
                "<meta charset=koi8-r>é",
            ),
            (
                html("<meta charset=klingon><meta charset=koi8-r>", b"\xf0"),
                Some("text/html; charset=x"),
                "<meta charset=klingon><meta charset=koi8-r>П",
            ),
            (
                html("<!-- <meta charset=koi8-r> -->", b"\x93"),
                None,
                "<!-- <meta charset=koi8-r> -->\u{201c}",
            ),
            (
                html("<p title='charset=koi8-r'>", b"\x93"),
                None,
                "<p title='charset=koi8-r'>\u{201c}",
            ),
        ]);
        let far = [&[b' '; PRESCAN][..], b"<meta charset=koi8-r>\xf0"].concat();
        assert!(decode(&far, None, true, false).ends_with('ð'));
        assert!(decode(b"<meta charset=koi8-r>\xf0", None, false, false).ends_with('ð'));
    }

    #[test]
    fn nobody_names_the_encoding() {
        check([
            ("é".as_bytes().to_vec(), None, "é"),
            (
                b"caf\xe9 \x93x\x94".to_vec(),
                None,
                "café \u{201c}x\u{201d}",
            ),
            (b"caf\xe9".to_vec(), None, "café"),
            (Vec::new(), None, ""),
            (b"<meta charset".to_vec(), None, "<meta charset"),
            (b"<meta charset=>".to_vec(), None, "<meta charset=>"),
            (b"<!--".to_vec(), Some("charset"), "<!--"),
        ]);
        assert_eq!(decode(b"\xc3\xa9\xc3", None, true, true), "é\u{fffd}");
    }
}
