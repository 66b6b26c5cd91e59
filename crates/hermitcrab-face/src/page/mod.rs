//! The files for a browser: the host page, the frame around a shell, and the document of an MCP app.

mod mcp_app;
mod scripts;

pub use mcp_app::mcp_app_document;
pub(crate) use scripts::{METHODS, TableScripts};

/// A file of the page, below `/assets/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// The file name.
    pub name: &'static str,
    /// The media type.
    pub mime: &'static str,
    /// The content.
    pub body: &'static str,
}

macro_rules! scripts {
    ($($name:literal),+ $(,)?) => {
        &[
            Asset { name: "style.css", mime: "text/css; charset=utf-8", body: include_str!("style.css") },
            $(Asset { name: $name, mime: SCRIPT, body: include_str!($name) }),+
        ]
    };
}

/// The media type of scripts.
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page at `/`.
pub(crate) const INDEX: &str = include_str!("index.html");

/// The scripts and styles that the page loads.
pub(crate) const ASSETS: &[Asset] = scripts![
    "bar.js",
    "focus_guard.js",
    "blocks.js",
    "chat.js",
    "core.js",
    "difference.js",
    "drafts.js",
    "element.js",
    "faces.js",
    "folders.js",
    "frame.js",
    "key.js",
    "link.js",
    "log.js",
    "main.js",
    "permissions.js",
    "browser_apis.js",
    "panel.js",
    "review.js",
    "skills.js",
    "frames.js",
    "notices.js",
    "splash.js",
];

/// The document of every frame.
pub(crate) const FRAME: &str = include_str!("frame.html");

/// The permissions policy of a frame: nothing is allowed, including the defaults of every frame.
pub(crate) const PERMISSIONS: &str = "\
    accelerometer=(), ambient-light-sensor=(), attribution-reporting=(), autoplay=(), bluetooth=(), \
    browsing-topics=(), camera=(), clipboard-read=(), clipboard-write=(), compute-pressure=(), \
    deferred-fetch=(), deferred-fetch-minimal=(), display-capture=(), encrypted-media=(), \
    focus-without-user-activation=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), \
    identity-credentials-get=(), idle-detection=(), join-ad-interest-group=(), keyboard-map=(), \
    local-fonts=(), local-network-access=(), magnetometer=(), microphone=(), midi=(), \
    otp-credentials=(), payment=(), picture-in-picture=(), private-aggregation=(), \
    private-state-token-issuance=(), private-state-token-redemption=(), \
    publickey-credentials-create=(), publickey-credentials-get=(), run-ad-auction=(), \
    screen-wake-lock=(), serial=(), shared-storage=(), shared-storage-select-url=(), storage-access=(), \
    sync-xhr=(), usb=(), web-share=(), window-management=(), xr-spatial-tracking=()";

/// `X-DNS-Prefetch-Control` of a frame: looking a name up would tell the name.
pub(crate) const DNS_PREFETCH: &str = "off";

/// The policy of the page at `origin`, such as `http://127.0.0.1:4321`.
pub(crate) fn host_csp(origin: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self' data: blob:; frame-src {origin}/face/; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

/// The policy of a frame and of what it loads.
pub(crate) fn frame_csp(origin: &str) -> String {
    let policy = face_policy(&format!("{origin}/face/"));
    format!("sandbox allow-scripts; {policy}; frame-ancestors {origin}; {TRUSTED_TYPES}")
}

/// The policy of a face that may load these scripts.
fn face_policy(scripts: &str) -> String {
    format!(
        "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; \
         img-src data: blob:; font-src data:; media-src blob: data:; connect-src 'none'; form-action 'none'; \
         base-uri 'none'; frame-src 'none'; worker-src 'none'; webrtc 'block'"
    )
}

/// The part of a face's policy about strings that become code or markup.
const TRUSTED_TYPES: &str = "require-trusted-types-for 'script'; trusted-types hermitcrab default";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_may_load_its_own_files_and_frame_faces() {
        assert_eq!(
            host_csp("http://127.0.0.1:4321"),
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
             frame-src http://127.0.0.1:4321/face/; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'"
        );
    }

    #[test]
    fn a_frame_may_load_its_scripts_and_reach_nobody() {
        assert_eq!(
            frame_csp("http://localhost:4321"),
            "sandbox allow-scripts; default-src 'none'; script-src http://localhost:4321/face/; \
             style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src blob: data:; connect-src 'none'; \
             form-action 'none'; base-uri 'none'; frame-src 'none'; worker-src 'none'; webrtc 'block'; \
             frame-ancestors http://localhost:4321; require-trusted-types-for 'script'; \
             trusted-types hermitcrab default"
        );
    }

    #[test]
    fn a_frame_may_use_nothing_of_the_browser() {
        let features: Vec<_> = PERMISSIONS.split(", ").collect();
        assert!(features.len() > 40);
        for feature in &features {
            assert!(feature.ends_with("=()"), "{feature}");
        }
    }

    #[test]
    fn every_file_is_a_text_of_its_kind() {
        for asset in ASSETS {
            let is_style = asset.name == "style.css";
            assert_eq!(asset.mime == SCRIPT, !is_style, "{}", asset.name);
            assert!(!asset.body.is_empty());
        }
    }
}
