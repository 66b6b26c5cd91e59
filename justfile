# Builds the programs one by one and shows what each does, offline.
demo *NAMES:
    cargo xtask demo {{NAMES}}

# Runs every test.
test *FLAGS:
    cargo xtask test {{FLAGS}}

# The face in a real browser (Chromium and chromedriver must be there).
face:
    ORRERY_BROWSER=required cargo test -p orrery-hermitcrab-face --test it -- face::

# Fixture shells and random programs on real React, which npm installs; what they show is what the tests of our own runtime are held to.
react:
    ORRERY_BROWSER=required cargo test -p orrery-hermitcrab-face --test it -- --ignored react runtimes

# The pictures of the face in its guide.
face-pictures:
    ORRERY_SCREENSHOTS=docs/img cargo test -p orrery-hermitcrab-face --test it -- face::screenshots

# What must pass before a change is merged, without the tests.
check:
    cargo xtask check

# Runs the blocks of the guides and the examples of the helps.
docs *FILES:
    cargo xtask docs {{FILES}}

# Checks every library with each of its features alone.
features:
    cargo xtask features

# Speed as ratios measured in the same run: to the naive simulator and a Python script, to reqwest and serde.
bench:
    cargo bench -p orrery-popper-harness --bench bitslice --bench decide --bench proofs
    cargo bench -p orrery-llm-client --bench throughput
    cargo bench -p orrery-popper-store --bench growth -- 100000
    cargo bench -p orrery-popper-discovery --bench lab
    cargo bench -p popper --bench mcp

# The queue with workers in separate processes, and the plan to 1,000 workers with the costs that were measured: a quarter of an hour.
bench-queue:
    cargo bench -p orrery-work-queue --bench queue | tee target/queue-bench.json
    cargo bench -p orrery-work-queue --bench fleet -- "$PWD/target/queue-bench.json"

# zer0gravity against a server on this machine: wall, processor time, memory, calls. ZG_REFERENCE_CMD runs the reference in turn.
bench-zer0gravity *RUNS:
    cargo bench -p zer0gravity --bench side_by_side -- {{RUNS}}

# logosphere against a server on this machine: processor time, overhead, memory, journal. `REF=DIR` as argument runs the reference in turn.
bench-logosphere *REF:
    env {{REF}} cargo bench -p logosphere --bench side_by_side | tee target/logosphere-bench.json
    cargo bench -p orrery-logosphere-core --bench core | tee target/logosphere-core-bench.json
    cargo bench -p orrery-logosphere-core --bench report | tee target/logosphere-report-bench.json
    cargo bench -p logosphere --bench watch | tee target/logosphere-watch-bench.json

# Blocks and kernel: parsing, edits, the aperture, a turn's own time, a prompt.
bench-hermitcrab:
    cargo bench -p orrery-pscale-blocks --bench blocks
    cargo bench -p orrery-hermitcrab-kernel --bench kernel --bench facts
    cargo bench -p orrery-hermitcrab-face --bench compile --bench api
    cargo bench -p hermitcrab --bench cold --bench aged
    cargo test --release -p orrery-hermitcrab-face --test it -- --ignored --nocapture face::speed

# The fuzz targets, one after another, about ten minutes each on two cores.
fuzz:
    PROPTEST_CASES=600000 cargo test -p orrery-popper-harness --test it -- --exact fuzz::law_parser
    PROPTEST_CASES=400000 cargo test -p orrery-popper-harness --test it -- --exact fuzz::claim_grammar
    PROPTEST_CASES=10000000 cargo test -p orrery-popper-harness --test it -- --exact fuzz::observable_grammar
    PROPTEST_CASES=1000000 cargo test -p orrery-popper-harness --test it -- --exact fuzz::universe_loader

# Kills a discovery run two hundred times at random instants and compares what is left with an undisturbed run.
soak:
    POPPER_KILLS=200 cargo test -p popper --test it -- --exact kill::kill_9_at_any_instant_changes_nothing --nocapture

# Runs the demo and the tests in a clone, as on a machine with Rust and a C compiler alone: half an hour or more.
fresh:
    cargo xtask fresh

# Packs the four programs as a tarball and a wheel.
dist *FLAGS:
    cargo xtask dist {{FLAGS}}

# Draws the pictures of the README and the guides.
pictures *FLAGS:
    cargo xtask pictures {{FLAGS}}

# Asks a model by a recipe and keeps the evidence (docs/models.md).
campaign *ARGUMENTS:
    cargo xtask campaign {{ARGUMENTS}}

# Runs the opt-in tests against servers and clients by others (docs/peers.md).
peers *NAMES:
    cargo xtask peers {{NAMES}}

# Counts the lines of source of hermitcrab's packages.
sizes:
    cargo xtask sizes
