//! The binary in a terminal: a test sends keys and reads the output.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use test_support::{Answer, CannedReply, has_program};

use crate::model::{GREETING, Talk};
use crate::program::Place;

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_mins(1);
/// The question of a line editor for the position of the cursor.
const WHERE: &[u8] = b"\x1b[6n";
const CTRL_C: &[u8] = b"\x03";
/// The program that makes another one the leader of its terminal.
const LEAD: &str = "setsid";

#[derive(Default)]
struct Screen {
    told: Mutex<Vec<u8>>,
    more: Condvar,
    /// Whether no process has the terminal any longer, so that the output is complete.
    ended: AtomicBool,
}

impl Screen {
    fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

/// A program in a new terminal.
pub struct Terminal {
    keys: File,
    screen: Arc<Screen>,
    pub child: Child,
}

impl Terminal {
    pub fn start(program: &Command) -> Self {
        let words = [program.get_program()].into_iter();
        Self::run(program, words.chain(program.get_args()))
    }

    /// The program leads the session of its terminal: its Ctrl-C comes from there, as a person's does.
    fn start_leader(program: &Command) -> Self {
        let lead = [LEAD, "--ctty"].map(OsStr::new);
        let words = lead.into_iter().chain([program.get_program()]);
        Self::run(program, words.chain(program.get_args()))
    }

    /// Runs these words with the folder and the variables of `program`.
    fn run<'a>(program: &Command, mut words: impl Iterator<Item = &'a OsStr>) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let slave = ptsname(&master, Vec::new()).unwrap();
        let open = || -> OwnedFd {
            rustix::fs::open(&slave, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap()
        };
        let mut command = Command::new(words.next().unwrap());
        command.args(words).env_clear();
        let set = program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        command.envs(set).env("TERM", "xterm");
        command.current_dir(program.get_current_dir().unwrap());
        command.stdin(open()).stdout(open()).stderr(open());
        let child = command.spawn().unwrap();
        let keys = File::from(master);
        let screen = Arc::new(Screen::default());
        let (shown, mut answers) = (screen.clone(), keys.try_clone().unwrap());
        thread::spawn(move || {
            let mut piece = [0; 4_096];
            // It fails once no process has the terminal any longer.
            while let Ok(count @ 1..) = answers.read(&mut piece) {
                let asked = piece[..count]
                    .windows(WHERE.len())
                    .filter(|part| *part == WHERE);
                for _ in asked {
                    answers.write_all(b"\x1b[1;1R").unwrap();
                }
                shown.told.lock().unwrap().extend(&piece[..count]);
                shown.more.notify_all();
            }
            let told = shown.told.lock().unwrap();
            shown.ended.store(true, Ordering::SeqCst);
            drop(told);
            shown.more.notify_all();
        });
        Self {
            keys,
            screen,
            child,
        }
    }

    /// Waits for the end of the program and returns the rest of its output.
    #[track_caller]
    pub fn all(&mut self) -> String {
        self.child.wait().unwrap();
        let told = self.screen.told.lock().unwrap();
        let waited =
            (self.screen.more).wait_timeout_while(told, PATIENCE, |_| !self.screen.ended());
        let (told, waited) = waited.unwrap();
        assert!(!waited.timed_out(), "the screen did not end");
        String::from_utf8(told.clone()).unwrap()
    }

    pub fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// Waits until the output has these words, and drops the output up to them.
    #[track_caller]
    pub fn until(&self, words: &str) {
        self.before(words);
    }

    /// Waits until the output has these words, and returns and drops the output before them.
    #[track_caller]
    pub fn before(&self, words: &str) -> String {
        let find = |told: &[u8]| String::from_utf8_lossy(told).find(words);
        let told = self.screen.told.lock().unwrap();
        let waited =
            (self.screen.more).wait_timeout_while(told, PATIENCE, |told| find(told).is_none());
        let mut told = waited.unwrap().0;
        let shown = String::from_utf8_lossy(&told).into_owned();
        let found = shown.find(words);
        if let Some(at) = found {
            shown.as_bytes()[at + words.len()..].clone_into(&mut told);
        }
        drop(told);
        let Some(at) = found else {
            panic!("{words:?} did not come:\n{shown}");
        };
        shown[..at].to_owned()
    }
}

#[test]
fn the_first_screen_of_chat_is_the_place_then_the_greeting() {
    let place = Place::new();
    let first = Terminal::start(&place.command(&["chat"])).before("> ");
    let first = plain(&first);
    let who = "offline (script): no model is asked · 10 tools · /help";
    let (told, rest) = first.split_once("\n\n").unwrap();
    assert!(
        told.ends_with("\nfirst start: created 6 blocks in data"),
        "{first}"
    );
    let (greeting, rest) = rest.split_once("\n\n").unwrap();
    assert!(
        greeting.starts_with("Hello. I am the offline script"),
        "{first}"
    );
    assert!(greeting.ends_with("Say \"help\" for what I do."), "{first}");
    assert!(!greeting.contains('\n'), "{first}");
    assert!(rest.starts_with(who), "{first}");
    assert!(!first.contains("block_read"), "{first}");

    place
        .fed(b"remember: the keel is laid\n", &["chat"])
        .exits(0);
    let fresh = ["chat", "--fresh"];
    let again = Terminal::start(&place.command(&fresh)).before("> ");
    let again = plain(&again);
    assert!(
        again.contains("the last one: the keel is laid. Say"),
        "{again}"
    );
    assert!(!again.contains("first start") && !again.contains("block_read"));
    let all = place.command(&[&fresh[..], &["-v"]].concat());
    let all = Terminal::start(&all).before("> ");
    assert!(
        plain(&all).contains("  block_read name: constitution"),
        "{all}"
    );
}

/// Returns the output of a terminal without colours and with plain line ends.
fn plain(told: &str) -> String {
    let told = told.replace("\r\n", "\n");
    let mut plain = String::new();
    for (at, part) in told.split('\u{1b}').enumerate() {
        let end = part.find(|char: char| char.is_ascii_alphabetic());
        let rest = end.map_or(part, |end| &part[end + 1..]);
        plain.push_str(if at == 0 { part } else { rest });
    }
    plain
}

#[test]
fn an_outline_is_cut_at_the_width_of_a_terminal_and_whole_in_a_pipe() {
    let steers = "\u{1b}[2J";
    let long = format!("It begins, {steers}{}and ends.", "goes on, ".repeat(30));
    let place = Place::with_block("yard", "What the yard holds.", &[&long, "A saw."]);
    let read = ["block", "read", "yard"];
    let whole = place.run(&read).exits(0).stdout;
    let shown = long.replace('\u{1b}', "\\u{1b}");
    assert!(whole.contains(&format!("0.1  {shown}\n")), "{whole}");
    assert_eq!(
        place
            .run(&[&read[..], &["--full"]].concat())
            .exits(0)
            .stdout,
        whole
    );
    // The size of the terminal is 100 columns.
    let at_terminal = |more: &[&str]| {
        let mut terminal = Terminal::start(&place.command(&[&read[..], more].concat()));
        let told = terminal.all();
        assert!(!told.contains('\u{1b}'), "{told:?}");
        told.replace("\r\n", "\n")
    };
    for (more, note) in [(&[][..], "0.2  A saw."), (&["0"], "next free: 0.3")] {
        let told = at_terminal(more);
        let lines: Vec<_> = told.lines().collect();
        let widths = lines.iter().map(|line| line.chars().count());
        assert_eq!(widths.max(), Some(100), "{told}");
        let line = lines
            .iter()
            .find(|line| line.contains("0.1  It begins"))
            .unwrap();
        assert!(line.contains('…') && line.ends_with("and ends."), "{told}");
        assert!(
            told.ends_with(&format!("{note}\n(cut; --full shows all)\n")),
            "{told}"
        );
    }
    assert_eq!(at_terminal(&["--full"]), whole);
    // Nothing is cut where all has room.
    let short = at_terminal(&["0.2"]);
    assert!(
        short.contains("A saw.") && !short.contains("cut"),
        "{short}"
    );
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ctrl-C stops 20 answers that do not end. The provider sees each connection closed while the prompt waits for the next
/// line, and nothing else happens.
#[test]
fn h4_ctrl_c_ends_the_request_itself() {
    const RUNS: usize = 20;
    if !has_program(LEAD) {
        return;
    }
    let pieces = CannedReply::text("half of it").anthropic_events();
    let stalled = Answer::events().pieces(&pieces[..3]).stall();
    let talk = Talk::of([stalled]);
    let mut terminal = Terminal::start_leader(&talk.command(&[]));
    terminal.until(GREETING);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut longest = Duration::ZERO;
    for run in 1..=RUNS {
        terminal.until("> ");
        terminal.press(format!("question {run}\r").as_bytes());
        terminal.until("half ");
        terminal.press(CTRL_C);
        let pressed = Instant::now();
        let closed = talk.server.wait_closed(run);
        let waited = runtime.block_on(async { tokio::time::timeout(PATIENCE, closed).await });
        assert!(waited.is_ok(), "run {run}: the request is open");
        longest = longest.max(pressed.elapsed());
        terminal.until("stopped");
    }
    eprintln!(
        "h4: of {RUNS} requests the last to close took {} ms",
        longest.as_millis()
    );
    terminal.until("> ");
    terminal.press(CTRL_C);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
}
