//! Nano-dollars in JSON: dollars as a text, since a JSON number may lose digits on its way.

use serde::{Deserialize, Deserializer, Serializer};

const NANOS: u64 = 1_000_000_000;

/// `0.0021`: as many digits as it needs, at least two after the point.
pub(crate) fn written(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (dollars, rest) = (nanos.unsigned_abs() / NANOS, nanos.unsigned_abs() % NANOS);
    let digits = format!("{rest:09}");
    let digits = digits.trim_end_matches('0');
    format!("{sign}{dollars}.{digits:0<2}")
}

fn read(text: &str) -> Option<i64> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (unsigned, sign) = match text.strip_prefix('-') {
        Some(unsigned) => (unsigned, -1),
        None => (text, 1),
    };
    let (dollars, rest) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    if !digits(dollars) || !digits(rest) || rest.len() > 9 {
        return None;
    }
    let dollars = dollars.parse::<i128>().ok()?.checked_mul(NANOS.into())?;
    let rest: i128 = format!("{rest:0<9}").parse().ok()?;
    i64::try_from(sign * dollars.checked_add(rest)?).ok()
}

fn read_or_say<E: serde::de::Error>(text: &str) -> Result<i64, E> {
    read(text).ok_or_else(|| E::custom(format!("expected dollars such as \"0.125\", got {text:?}")))
}

/// For `#[serde(with = ...)]` on an `i64`.
pub(super) mod plain {
    use super::{Deserialize, Deserializer, Serializer, read_or_say, written};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(nanos: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&written(*nanos))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        read_or_say(&String::deserialize(from)?)
    }
}

/// The same for an `Option<i64>`, none as null.
pub(crate) mod option {
    use super::{Deserialize, Deserializer, Serializer, read_or_say, written};

    #[expect(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(nanos: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
        match nanos {
            Some(nanos) => to.serialize_str(&written(*nanos)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
        Option::<String>::deserialize(from)?
            .map(|text| read_or_say(&text))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nano_dollars_are_written_and_read() {
        for (nanos, text) in [
            (0, "0.00"),
            (123_000, "0.000123"),
            (2_100_000, "0.0021"),
            (5_000_000_000, "5.00"),
            (1, "0.000000001"),
            (-1_500_000_000, "-1.50"),
            (i64::MAX, "9223372036.854775807"),
            (i64::MIN, "-9223372036.854775808"),
        ] {
            assert_eq!(written(nanos), text);
            assert_eq!(read(text), Some(nanos));
        }
        assert_eq!(read("5"), Some(5_000_000_000));
        for text in [
            "",
            ".5",
            "5.",
            "-",
            "+1",
            "1e3",
            "0.0000000001",
            "9223372036.854775808",
            "$1",
            "1,5",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
