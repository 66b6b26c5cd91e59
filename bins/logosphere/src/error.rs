/// What is wrong with an input, an output or flags. Every message names what it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("flags of a run stand before the command; put them behind it")]
    BeforeCommand,
    #[error("this command is not built yet")]
    NotYet,
}
