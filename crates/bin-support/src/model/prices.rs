//! The prices of models: the built-in table, and a file of the user's own.

use std::fs;
use std::path::Path;

use llm_client::ModelTable;

use super::ProviderName;
use crate::{Error, Failure};

/// Returns the built-in prices, overridden by those of the file that `--prices` names.
///
/// # Errors
/// The file cannot be read, or has another form: [`Failure::usage`].
pub fn price_table(file: Option<&Path>) -> Result<ModelTable, Failure> {
    let built_in = ModelTable::embedded();
    let Some(path) = file else {
        return Ok(built_in);
    };
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
        Failure::usage(Error::Prices {
            path: path.to_owned(),
            source,
        })
    };
    let text = fs::read_to_string(path).map_err(|error| failed(error.into()))?;
    let own = ModelTable::parse(&text).map_err(|error| failed(error.into()))?;
    Ok(built_in.overridden_by(&own))
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
