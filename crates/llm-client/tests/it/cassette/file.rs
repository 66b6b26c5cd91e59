//! The file: damage, another version, the same one twice, a full disk.

use super::*;

/// Three recorded calls, and the lines of the file.
async fn three() -> (Tape, Vec<String>) {
    let tape = Tape::new();
    let recording = tape.recording(WIRE, &parrot(WIRE)).build().unwrap();
    for n in 0..3 {
        let asked = Request::new("model-1", format!("question {n}"));
        recording.complete(&asked).await.unwrap();
    }
    drop(recording);
    let lines = tape.text().lines().map(str::to_owned).collect();
    (tape, lines)
}

#[tokio::test]
async fn a_torn_last_line_is_cut_and_recording_goes_on_after_it() {
    let (tape, lines) = three().await;
    for keep in [1, 10, lines[2].len() - 1] {
        let torn = format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..keep]);
        fs::write(&tape.path, torn).unwrap();
        let replaying = tape.replaying(WIRE);
        let asked = |n| Request::new("model-1", format!("question {n}"));
        assert!(replaying.complete(&asked(1)).await.is_ok());
        let error = replaying.complete(&asked(2)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ReplayMiss { .. }));
        let recording = tape.recording(WIRE, &parrot(WIRE)).build().unwrap();
        recording.complete(&asked(2)).await.unwrap();
        assert_eq!(tape.lines().len(), 3, "{keep}");
    }
    // A last line that only lacks its end is whole.
    fs::write(&tape.path, lines.join("\n")).unwrap();
    let recording = tape.recording(WIRE, &parrot(WIRE)).build().unwrap();
    recording.complete(&request()).await.unwrap();
    assert_eq!(tape.lines().len(), 4);
}

#[tokio::test]
async fn damage_in_the_middle_and_unknown_versions_are_errors_with_their_line() {
    let (tape, lines) = three().await;
    let version =
        |n: &str| lines[1].replace("\"schema_version\":1", &format!("\"schema_version\":{n}"));
    for (second, told) in [
        (
            lines[1][..30].to_owned(),
            "line 2: expected one recorded attempt: ",
        ),
        ("{}".to_owned(), "line 2: expected one recorded attempt: "),
        ("[1]".to_owned(), "line 2: expected one recorded attempt: "),
        (
            version("2"),
            "line 2: schema_version is 2, this program reads 1",
        ),
        (
            version("0"),
            "line 2: schema_version is 0, this program reads 1",
        ),
    ] {
        let text = format!("{}\n{second}\n{}\n", lines[0], lines[2]);
        fs::write(&tape.path, &text).unwrap();
        for builder in [
            client(WIRE, &nobody(), &skipping()).replay(tape.cassette()),
            client(WIRE, &nobody(), &skipping()).record(tape.cassette()),
        ] {
            let Err(ConfigError::Cassette(error)) = builder.build() else {
                panic!("{second} was read")
            };
            let shown = error.message();
            assert!(shown.starts_with(&format!("cassette, {told}")), "{shown}");
        }
        assert_eq!(tape.text(), text, "it is left as it was");
    }
}

#[test]
fn one_file_is_not_recorded_and_replayed_at_once() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let build = |record: &Path, replay: &Path| {
        client(WIRE, &nobody(), &skipping())
            .record(Cassette::new(record))
            .replay(Cassette::new(replay))
            .build()
    };
    let detour = inner.join("..").join("tape.jsonl");
    // Neither is there: nothing is made.
    for other in [&path, &detour] {
        assert!(build(&path, other).is_err());
        assert!(!path.exists());
    }
    fs::write(&path, "").unwrap();
    let mut spellings = vec![
        path.clone(),
        detour,
        folder.path().join(".").join("tape.jsonl"),
    ];
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        spellings.push(link);
    }
    for other in spellings {
        for (record, replay) in [(&path, &other), (&other, &path)] {
            let Err(error) = build(record, replay) else {
                panic!("{} was taken", other.display())
            };
            let told = "record: it is the file that is replayed; record to another one";
            assert_eq!(error.to_string(), told);
        }
    }
    assert!(build(&inner.join("new.jsonl"), &path).is_ok());
}

#[test]
fn a_cassette_that_is_not_there_is_an_error_only_for_a_replay() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let builder = || client(WIRE, &nobody(), &skipping());
    let replayed = builder().replay(Cassette::new(&path)).build();
    assert!(matches!(replayed, Err(ConfigError::Cassette(_))));
    assert!(builder().record(Cassette::new(&path)).build().is_ok());
    let nowhere = folder.path().join("no folder").join("tape.jsonl");
    let recorded = builder().record(Cassette::new(nowhere)).build();
    assert!(matches!(recorded, Err(ConfigError::Cassette(_))));
}

#[tokio::test]
async fn a_full_disk_is_an_error_of_every_call_and_the_reply_is_still_paid_for() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    for form in [Form::Whole, Form::Stream] {
        let recording = client(WIRE, &saying(WIRE, &hello()), &skipping())
            .record(Cassette::new(full))
            .build()
            .unwrap();
        let mut asked = request();
        asked.model = "claude-haiku-4-5".into();
        for _ in 0..2 {
            let error = ask(&recording, form, &asked).await.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Cassette { .. }),
                "{error:?}"
            );
            assert_eq!(error.class().as_str(), "cassette");
            // The second call is not sent any more.
            let spent = Usd(10 * 1_000 + 5 * 5_000);
            assert_eq!(recording.spent().usd, spent);
        }
        let failing = client(WIRE, &server(|_| Ok(failed(WIRE, 400, "bad"))), &skipping())
            .record(Cassette::new(full))
            .build()
            .unwrap();
        let error = ask(&failing, form, &asked).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Cassette { .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn two_clients_do_not_record_into_one_file() {
    let tape = Tape::new();
    let first = tape.recording(WIRE, &nobody()).build().unwrap();
    let error = tape.recording(WIRE, &nobody()).build().err().unwrap();
    assert!(matches!(error, ConfigError::Cassette(_)), "{error:?}");
    drop(first);
    tape.recording(WIRE, &nobody()).build().unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_cassette_is_refused_and_left_as_it_is() {
    let tape = Tape::new();
    let newer = r#"{"schema_version":2,"root":"r"}"#;
    for text in ["my only notes", "{\"a\":1", "\u{feff}text", newer] {
        fs::write(&tape.path, text).unwrap();
        let error = tape.recording(WIRE, &nobody()).build().err().unwrap();
        assert!(matches!(error, ConfigError::Cassette(_)), "{error:?}");
        assert_eq!(fs::read_to_string(&tape.path).unwrap(), text);
    }
}
