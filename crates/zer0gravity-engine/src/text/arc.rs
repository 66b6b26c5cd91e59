//! Values that are shared, in JSON.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a shared value like the value.
pub(crate) fn serialize<T: Serialize + ?Sized, S: Serializer>(
    value: &Arc<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    value.serialize(to)
}

/// Reads a value that nothing shares yet.
pub(crate) fn deserialize<'de, T: ?Sized, D: Deserializer<'de>>(from: D) -> Result<Arc<T>, D::Error>
where
    Box<T>: Deserialize<'de>,
{
    Box::deserialize(from).map(Arc::from)
}
