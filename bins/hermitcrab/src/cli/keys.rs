//! What the commands about keys take.

use bin_support::model::ProviderName;

#[derive(Debug, clap::Args)]
pub struct Key {
    /// Print JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: KeyCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum KeyCommand {
    /// Keep a key from stdin, or one typed and not shown
    Set(KeySet),
    /// Forget the keys that are kept.
    Clear,
    /// Print where keys are found, without the keys
    Status,
}

#[derive(Debug, clap::Args)]
pub struct KeySet {
    /// Keep it in a file of the data directory that only this user can read. Exports leave it out.
    #[arg(long)]
    pub file: bool,
    /// Whose key it is.
    #[arg(long, value_enum, value_name = "PROVIDER", default_value_t = ProviderName::Anthropic)]
    pub provider: ProviderName,
    /// Where people type a key by mistake; it is refused without being repeated.
    #[arg(hide = true, allow_hyphen_values = true)]
    pub typed: Option<String>,
}
