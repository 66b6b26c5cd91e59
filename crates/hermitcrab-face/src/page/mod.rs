//! What the browser gets.

pub(crate) struct Asset {
    pub name: &'static str,
    pub mime: &'static str,
    pub body: &'static str,
}
pub(crate) const ASSETS: &[Asset] = &[];
pub(crate) const INDEX: &str = "";
pub(crate) const FRAME: &str = "";
pub(crate) const BRIDGE: &str = "";
pub(crate) const SAFE_SHELL: &str = "function App() { return <p>safe</p>; }";
pub(crate) const FRAME_PERMISSIONS: &str = "";
pub(crate) fn host_csp(_: &str) -> String {
    String::new()
}
pub(crate) fn frame_csp(_: &str) -> String {
    String::new()
}
