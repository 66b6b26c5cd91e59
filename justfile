# Runs the main job of every world offline and shows where the results lie.
demo:
    cargo xtask demo

# Runs every test.
test:
    cargo xtask test

# Format, lints, documentation, licences.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    cargo deny check licenses bans sources

# Speed as ratios to the naive simulator in the same run.
bench:
    cargo bench -p popper-harness
