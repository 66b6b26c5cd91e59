/// The journal of an offline run of two rounds, for examples of the documentation.
fn two_rounds() -> Vec<u8> {
    use logosphere_core::{RunControl, Effective, ExperimentStart, Orchestrator, RequestTemplate, Settings};
    use logosphere_core::journal::MemJournal;
    use logosphere_core::local_mind;

    let settings = Settings::default().with(|settings| {
settings.provider = "offline".into();
settings.model = "copier".into();
settings.mind = Some("copier".into());
settings.max_rounds = 2;
});
    let mind = local_mind("copier", &settings.prompt()).unwrap();
    let template = RequestTemplate::of(&mind, &settings, "local").unwrap();
    let seeds = ["Who reads this?\n\n~init", "Say it again.\n\n~init"].map(str::to_owned);
    let start = ExperimentStart::new(
        Effective::new(settings, "example"),
        "run-1".into(),
        seeds.into_iter(),
        template,
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = MemJournal::default();
        let mut run = Orchestrator::start(start, mind, journal, llm_types::FixedClock(std::time::SystemTime::UNIX_EPOCH), RunControl::default()).unwrap();
        run.run(&mut |_| {}).await.unwrap();
        run.into_journal().bytes
    })
}
