// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's log: its levels, lines of the program's own, and to `tracing` and back.

use crate::{
    messages::primary_socket,
    process::{eal_args, init, isolated, isolated_bare},
};
use dpdk_rs::log::{self, Level, LogError, LogSubscriber, LogType, LogWriter};
use std::{
    fmt::{self, Write as _},
    io::Write as _,
    os::unix::net::UnixDatagram,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Keeps events as lines.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, " {}={value}", field.name()).unwrap();
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Events {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Subscriber for Events {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut line);
        assert!(!line.0.contains("panic now"), "as asked for");
        // What is logged while a line is being handled is dropped.
        log::write(LogType::User3, Level::Error, "again");
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn lines_become_events() {
    let output = isolated_bare(|| {
        let events = Events::default();
        tracing::subscriber::set_global_default(events.clone()).unwrap();
        log::to_tracing().unwrap();
        log::to_tracing().unwrap();
        let args = eal_args(&["net_null0"]);
        let (eal, _) = init(args.into_iter().chain(["--log-level=lib.eal:debug".to_owned()])).unwrap();
        let started = events.take();
        let of_the_eal = |level| {
            let is_so = |line: &String| line.starts_with(level) && line.ends_with(" logtype=lib.eal");
            started.iter().any(is_so)
        };
        assert!(of_the_eal("INFO dpdk message=EAL: ") && of_the_eal("DEBUG dpdk message=EAL: "), "{started:#?}");
        assert!(started.iter().all(|line| !line.contains('\n')), "{started:#?}");

        // The EAL also logs changes of levels.
        log::set_level("lib.eal", Level::Notice).unwrap();
        log::set_level("user[12]", Level::Debug).unwrap();
        events.take();
        let levels = [
            (Level::Emergency, "ERROR"),
            (Level::Alert, "ERROR"),
            (Level::Critical, "ERROR"),
            (Level::Error, "ERROR"),
            (Level::Warning, "WARN"),
            (Level::Notice, "INFO"),
            (Level::Info, "INFO"),
            (Level::Debug, "DEBUG"),
        ];
        for (level, tracing) in levels {
            log::write(LogType::User2, level, "a line");
            assert_eq!(events.take(), [format!("{tracing} dpdk message=a line logtype=user2")]);
        }
        log::write(LogType::User1, Level::Error, "two\nlines\n");
        let two = ["ERROR dpdk message=two logtype=user1", "ERROR dpdk message=lines logtype=user1"];
        assert_eq!(events.take(), two);

        log::set_level("user2", Level::Warning).unwrap();
        assert!(log::is_enabled(LogType::User2, Level::Warning) && !log::is_enabled(LogType::User2, Level::Notice));
        log::write(LogType::User2, Level::Notice, "left out");
        assert_eq!(events.take(), [""; 0]);
        log::set_global_level(Level::Critical);
        log::write(LogType::User2, Level::Error, "left out");
        log::set_global_level(Level::Debug);
        assert_eq!(events.take(), [""; 0]);

        std::panic::set_hook(Box::new(|_| {}));
        log::write(LogType::User1, Level::Error, "panic now");
        log::write(LogType::User1, Level::Error, "and go on");
        assert_eq!(events.take(), ["ERROR dpdk message=and go on logtype=user1"]);
        drop(eal);
    });
    assert!(!output.contains("EAL: "), "nothing goes to stderr:\n{output}");
}

#[test]
fn events_become_lines() {
    let output = isolated(&[], |_eal| {
        log::set_level("user4", Level::Info).unwrap();
        tracing::subscriber::with_default(LogSubscriber::new(LogType::User4), || {
            let span = tracing::info_span!("not told", request = 7);
            let _entered = span.enter();
            tracing::warn!(port = 3, peer = "left", "the link is {}", "down");
            tracing::debug!("left out");
            tracing::error!(target: "dpdk", "from there");
        });
        let mut writer = LogWriter::new(LogType::User5, Level::Error);
        write!(writer, "a line in ").unwrap();
        write!(writer, "pieces\nand the ").unwrap();
        writer.write_all(b"next").unwrap();
        drop(writer);
        log::write(LogType::User5, Level::Error, "until here\0and no further");
        assert_eq!(log::set_level("a\0b", Level::Debug), Err(LogError::Pattern("a\0b".to_owned())));
    });
    let lines: Vec<&str> = output.lines().collect();
    for line in ["the link is down port=3 peer=left", "a line in pieces", "and the next", "until here"] {
        assert!(lines.contains(&line), "{line:?} is missing:\n{output}");
    }
    for text in ["left out", "not told", "from there", "no further"] {
        assert!(!output.contains(text), "{text:?}:\n{output}");
    }
}

/// On the first event, which comes while the EAL starts, has another thread ask for a level of the log.
struct Asks {
    answer: mpsc::Sender<bool>,
    asked: AtomicBool,
    early: Arc<AtomicBool>,
}

impl Subscriber for Asks {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, _: &Event<'_>) {
        if self.asked.swap(true, Ordering::SeqCst) {
            return;
        }
        let (answer, (early, heard)) = (self.answer.clone(), mpsc::channel());
        thread::spawn(move || {
            log::set_level("pmd.*", Level::Error).unwrap();
            let enabled = log::is_enabled(LogType::User1, Level::Emergency);
            let _ = early.send(());
            answer.send(enabled).unwrap();
        });
        // The thread that starts does not wait for itself.
        assert!(log::is_enabled(LogType::User1, Level::Emergency));
        self.early.store(heard.recv_timeout(Duration::from_millis(100)).is_ok(), Ordering::SeqCst);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Drivers that are loaded add types to a table, which moves then: nobody looks at it meanwhile.
#[test]
fn other_threads_wait_while_log_types_are_added() {
    isolated_bare(|| {
        let (answer, answered) = mpsc::channel();
        let early = Arc::new(AtomicBool::new(false));
        let asks = Asks { answer, asked: AtomicBool::new(false), early: Arc::clone(&early) };
        tracing::subscriber::set_global_default(asks).unwrap();
        log::to_tracing().unwrap();
        let (eal, _) = init(eal_args(&[])).unwrap();
        assert!(!early.load(Ordering::SeqCst), "the other thread was not kept waiting");
        assert_eq!(answered.recv(), Ok(true));
        drop(eal);
    });
}

/// Takes its time with a line of the thread that receives messages.
struct Slow {
    inside: mpsc::Sender<()>,
    done: Arc<AtomicBool>,
}

impl Subscriber for Slow {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        if line.0.contains("truncated msg") {
            self.inside.send(()).unwrap();
            // Where the thread could be cancelled, as clean-up does.
            thread::sleep(Duration::from_millis(200));
            self.done.store(true, Ordering::SeqCst);
        }
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn clean_up_waits_for_a_line_of_the_thread_that_it_cancels() {
    isolated_bare(|| {
        let (inside, is_inside) = mpsc::channel();
        let done = Arc::new(AtomicBool::new(false));
        tracing::subscriber::set_global_default(Slow { inside, done: Arc::clone(&done) }).unwrap();
        log::to_tracing().unwrap();
        let args = eal_args(&[]).into_iter().filter(|arg| arg != "--no-shconf");
        let (eal, _) = init(args).unwrap();
        UnixDatagram::unbound().unwrap().send_to(&[0], primary_socket()).unwrap();
        is_inside.recv().unwrap();
        drop(eal);
        assert!(done.load(Ordering::SeqCst));
    });
}
