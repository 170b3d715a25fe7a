// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The program that runs the kernels: an order a line, an answer a line.

use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

/// It cannot be started, or has not done as it was told; in words.
#[derive(Debug)]
pub(crate) struct ProgramError(String);

impl std::fmt::Display for ProgramError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ProgramError {}

/// One that runs. It ends when its stdin is closed, so also with this process.
pub(crate) struct Program {
    path: String,
    child: Child,
    // None once it is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Program {
    pub(crate) fn start(path: &str, words: &[&str]) -> Result<Self, ProgramError> {
        let cannot = |reason: String| ProgramError(format!("cannot start '{path}': {reason}"));
        let mut child = Command::new(path)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| cannot(error.to_string()))?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(cannot("it has no pipes".into()));
        };
        Ok(Self { path: path.into(), child, orders: Some(orders), answers: BufReader::new(answers) })
    }

    /// The answer to an order, which must be of that kind.
    pub(crate) fn ask(&mut self, order: &str, kind: &str) -> Result<Value, ProgramError> {
        let mut line = String::new();
        let asked = match &mut self.orders {
            Some(orders) => writeln!(orders, "{order}").and_then(|()| orders.flush()),
            None => Ok(()),
        };
        let read = asked.and_then(|()| self.answers.read_line(&mut line));
        let answer = serde_json::from_str::<Value>(&line).ok();
        match answer.filter(|answer| answer.get("type").is_some_and(|found| found == kind)) {
            Some(answer) => Ok(answer),
            None => Err(self.failure(order, &line, read.err())),
        }
    }

    /// How long so many bursts took.
    pub(crate) fn run(&mut self, bursts: u64) -> Result<Duration, ProgramError> {
        let order = format!("run {bursts}");
        let answer = self.ask(&order, "ran")?;
        match answer.get("nanoseconds").and_then(Value::as_u64) {
            // Criterion divides by it.
            Some(nanoseconds) => Ok(Duration::from_nanos(nanoseconds.max(1))),
            None => Err(self.failure(&order, &answer.to_string(), None)),
        }
    }

    fn failure(&self, order: &str, line: &str, error: Option<std::io::Error>) -> ProgramError {
        let said = match (line.trim(), error) {
            (_, Some(error)) => error.to_string(),
            ("", None) => "it has ended: see what it has said on stderr".into(),
            (line, None) => format!("it answered '{line}'"),
        };
        ProgramError(format!("'{}' has not done '{order}': {said}", self.path))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.orders = None;
        // Where it has failed there is nothing to be done about it any more.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that answers as `measure serve` does, or not.
    fn program(answers: &str) -> Result<Program, ProgramError> {
        Program::start("sh", &["-c", &format!("while read -r order bursts; do {answers}; done")])
    }

    #[test]
    fn orders_are_answered_one_by_one() -> Result<(), ProgramError> {
        let mut program = program(r#"echo "{\"type\":\"ran\",\"nanoseconds\":${bursts}0}""#)?;
        assert_eq!(program.run(7)?, Duration::from_nanos(70));
        assert_eq!(program.run(12)?, Duration::from_nanos(120));
        Ok(())
    }

    #[test]
    fn no_time_at_all_is_a_nanosecond() -> Result<(), ProgramError> {
        assert_eq!(program(r#"echo '{"type":"ran","nanoseconds":0}'"#)?.run(1)?, Duration::from_nanos(1));
        Ok(())
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for (answers, complaint) in [
            (r#"echo '{"type":"ready"}'"#, r#"'sh' has not done 'run 5': it answered '{"type":"ready"}'"#),
            ("echo what?", "'sh' has not done 'run 5': it answered 'what?'"),
            (r#"echo '{"type":"ran"}'"#, r#"'sh' has not done 'run 5': it answered '{"type":"ran"}'"#),
            ("exit 3", "'sh' has not done 'run 5': it has ended: see what it has said on stderr"),
        ] {
            let failure = program(answers).and_then(|mut program| program.run(5)).err();
            assert_eq!(failure.map(|error| error.to_string()).as_deref(), Some(complaint));
        }
    }

    #[test]
    fn a_program_that_is_not_there() {
        let failure = Program::start("/no/such/program", &[]).err().map(|error| error.to_string());
        assert!(failure.is_some_and(|text| text.starts_with("cannot start '/no/such/program': ")));
    }
}
