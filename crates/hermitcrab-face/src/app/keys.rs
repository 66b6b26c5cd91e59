use async_trait::async_trait;
use secrecy::SecretString;

/// The way in which the page gives the program a key, or continues without one.
#[async_trait]
pub trait Keys: Send + Sync {
    /// The provider whose key is missing; `None` if no key is needed.
    fn wanted(&self) -> Option<String>;

    /// Takes a key.
    ///
    /// # Errors
    /// It cannot be used, in one line for the person.
    async fn set(&self, key: SecretString) -> Result<(), String>;

    /// Continues without a model.
    async fn offline(&self);
}

/// A program that needs no key.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a source without keys")]
pub struct NoKeys;

#[async_trait]
impl Keys for NoKeys {
    fn wanted(&self) -> Option<String> {
        None
    }

    async fn set(&self, _: SecretString) -> Result<(), String> {
        Err("this page takes no key".to_owned())
    }

    async fn offline(&self) {}
}
