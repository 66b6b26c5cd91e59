//! The prices of models: the built-in table, and a file of the user's own.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use llm_client::ModelTable;

use super::ProviderName;
use crate::{Error, Failure};

/// The longest file of prices, in bytes. A device has no end.
const MOST: u64 = 1 << 20;

/// Returns the built-in prices, overridden by those of the file that `--prices` names.
///
/// # Errors
/// The file cannot be read, is longer than 1 MiB, or has another form: [`Failure::usage`].
pub fn price_table(file: Option<&Path>) -> Result<ModelTable, Failure> {
    price_table_of("--prices", file)
}

/// As [`price_table`], for the file that the flag `flag` names.
///
/// # Errors
/// As [`price_table`].
pub fn price_table_of(flag: &'static str, file: Option<&Path>) -> Result<ModelTable, Failure> {
    let built_in = ModelTable::embedded();
    let Some(path) = file else {
        return Ok(built_in);
    };
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
        Failure::usage(Error::Prices {
            flag,
            path: path.to_owned(),
            source,
        })
    };
    let text = read(path).map_err(|error| failed(error.into()))?;
    let own = ModelTable::parse(&text).map_err(|error| failed(error.into()))?;
    Ok(built_in.overridden_by(&own))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if length as u64 > MOST {
        return Err(io::Error::other("longer than 1 MiB"));
    }
    Ok(text)
}

/// Refuses a cap in dollars for a model without a known price, before the first call. The user's own server is free.
///
/// # Errors
/// [`Error::Unpriced`]: [`Failure::usage`].
pub fn check_price(table: &ModelTable, provider: ProviderName, model: &str) -> Result<(), Failure> {
    let known = table.find(provider.as_str(), model);
    if !provider.is_billable() || known.is_some_and(|model| model.price(0).is_some()) {
        return Ok(());
    }
    Err(Failure::usage(Error::Unpriced {
        model: model.to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = price_table(Some(Path::new("/dev/zero"))).unwrap_err();
        let text = error.error().to_string();
        assert!(text.starts_with("--prices /dev/zero: "), "{text}");
        let cause = error.error().source().unwrap().to_string();
        assert_eq!(cause, "longer than 1 MiB");
    }
}
