//! Numbers in JSON as people write them: `40`, not `40.0`; and no NaN.

use serde::{Deserialize, Deserializer, Serializer};

/// Serialization of an `f64`: an integer has no point, -0 is 0, a value that is not finite is null.
pub(crate) mod plain {
    use super::{Deserialize, Deserializer, Serializer};

    // Up to here every integer is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        if !value.is_finite() {
            to.serialize_none()
        } else if value.fract() == 0.0 && value.abs() < EXACT {
            to.serialize_i64(*value as i64)
        } else {
            to.serialize_f64(*value)
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

/// Numbers with `None` as null.
pub(crate) mod plain_option {
    use super::{Deserialize, Deserializer, Serializer, plain};

    #[expect(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => plain::serialize(value, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        Option::<f64>::deserialize(from)
    }
}

/// `value` to `digits` decimals, halves up.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    crate::judge::score::round_half_up(value * unit) / unit
}
