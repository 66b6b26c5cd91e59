//! The seed's prompts, byte for byte.

use zer0gravity_engine::prompts::{Nonce, PromptProfile, RoleInput, render};

#[test]
fn the_seed_profile_is_the_users_text() {
    let rules = "RULES-9ab";
    let roles = [
        (RoleInput::Encode { rules, text: "t" }, "28a6f53257217f5c"),
        (
            RoleInput::Decode {
                rules,
                encoded: "e",
            },
            "42100d79b7db86a5",
        ),
        (
            RoleInput::Semantic {
                original: "o",
                decoded: "d",
            },
            "1826365fbb84e456",
        ),
        (RoleInput::Implementability { rules }, "fa32c1abc8720b0c"),
    ];
    for (input, hash) in roles {
        let prompt = render(PromptProfile::Seed, input, Nonce::default());
        assert_eq!(prompt.sha256.get(..16), Some(hash), "{input:?}");
    }
}
