//! The words of settings, read as configuration files spell them.

use std::str::FromStr;

use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error;

use crate::{Durability, Impersonation, OnError, ParseMode, Scheduling};

macro_rules! from_words {
    ($($setting:ty),*) => {
        $(impl FromStr for $setting {
            type Err = Error;

            fn from_str(word: &str) -> Result<Self, Error> {
                Self::deserialize(word.into_deserializer())
            }
        })*
    };
}

from_words!(Durability, Impersonation, OnError, ParseMode, Scheduling);
