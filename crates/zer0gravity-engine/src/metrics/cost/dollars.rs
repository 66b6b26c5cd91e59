//! Money in JSON: dollars as a text, because JSON readers may round numbers.

use llm_types::Usd;
use serde::{Deserialize, Deserializer, Serializer};

const NANOS: u64 = 1_000_000_000;

/// Writes dollars such as `0.0021`, with at least two digits after the point.
pub(crate) fn written(usd: Usd) -> String {
    usd.to_string().replace('$', "")
}

fn read(text: &str) -> Option<Usd> {
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
    let nanos = i64::try_from(sign * dollars.checked_add(rest)?);
    nanos.ok().map(Usd)
}

fn read_or_say<E: serde::de::Error>(text: &str) -> Result<Usd, E> {
    read(text).ok_or_else(|| E::custom(format!("expected dollars such as \"0.125\", got {text:?}")))
}

/// Serialization of a [`Usd`] as dollars.
pub(super) mod plain {
    use super::{Deserialize, Deserializer, Serializer, Usd, read_or_say, written};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(usd: &Usd, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&written(*usd))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Usd, D::Error> {
        read_or_say(&String::deserialize(from)?)
    }
}

/// Dollars as a text, with `None` as null.
pub(crate) mod option {
    use super::{Deserialize, Deserializer, Serializer, Usd, read_or_say, written};

    #[expect(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(usd: &Option<Usd>, to: S) -> Result<S::Ok, S::Error> {
        match usd {
            Some(usd) => to.serialize_str(&written(*usd)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Usd>, D::Error> {
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
            assert_eq!(written(Usd(nanos)), text);
            assert_eq!(read(text), Some(Usd(nanos)));
        }
        assert_eq!(read("5"), Some(Usd(5_000_000_000)));
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
