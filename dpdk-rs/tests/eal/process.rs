// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A separate process for every test, since the EAL starts once in the life of a process.
//!
//! A test calls [`isolated`] with a closure. In the test runner that starts the same program again for this one test, with
//! a variable in the environment; there the closure runs, on an EAL that needs neither root nor hugepages nor PCI devices,
//! with three lcores that float over whatever processors the process may use.

use dpdk_rs::{Eal, EalError, EalOptions, HotplugError, Port, port::Unconfigured};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    any::type_name,
    env, fs,
    io::Read,
    path::PathBuf,
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Set for the second process: its EAL file prefix.
pub(crate) const VARIABLE: &str = "DPDK_RS_TEST_PREFIX";

/// Where the EAL keeps its run-time files, below a folder `dpdk`.
const RUNTIME_DIRECTORY: &str = "RUNTIME_DIRECTORY";

/// Set for the second process: which of several cases it runs.
const CASE: &str = "DPDK_RS_TEST_CASE";

/// The exit status of a closure that ran to its end. A closure that panicked gives 101, a test that was not found 0.
pub(crate) const FINISHED: i32 = 86;

/// A test that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(300);

/// A tool that every process of a test runs in, such as `valgrind`: the words of its command line.
const TOOL: &str = "DPDK_RS_TEST_TOOL";

/// Additional EAL options for the tool's sake, as words of its command line.
const TOOL_EAL_ARGS: &str = "DPDK_RS_TEST_EAL_ARGS";

/// The factor by which the tool slows everything down.
const TOOL_PATIENCE: &str = "DPDK_RS_TEST_PATIENCE";

/// Runs `body` in a process of its own, with an EAL that has these virtual devices. Returns what the process wrote.
pub(crate) fn isolated<F: FnOnce(Eal)>(devices: &[&str], body: F) -> String {
    isolated_in(&[], devices, body)
}

/// As [`isolated`], but started by the command `wrapper`, such as `unshare --net`.
pub(crate) fn isolated_in<F: FnOnce(Eal)>(wrapper: &[&str], devices: &[&str], body: F) -> String {
    run(wrapper, test_name::<F>(), 0, |_| body(eal(devices)))
}

/// Runs `body` once for each case, each time in a process of its own. Returns what each process wrote.
pub(crate) fn isolated_cases<F: Fn(Eal, usize)>(cases: usize, devices: &[&str], body: F) -> Vec<String> {
    (0..cases).map(|case| run(&[], test_name::<F>(), case, |case| body(eal(devices), case))).collect()
}

/// Runs `body` in a process of its own, without starting the EAL. Returns what the process wrote.
pub(crate) fn isolated_bare<F: FnOnce()>(body: F) -> String {
    isolated_bare_in(&[], body)
}

/// Runs `body` once for each case, each time in a process of its own, started by the command `wrapper`, without starting
/// the EAL. Returns what each process wrote.
#[allow(dead_code, reason = "for the tests in faults/")]
pub(crate) fn isolated_bare_cases<F: Fn(usize)>(wrapper: &[&str], cases: usize, body: F) -> Vec<String> {
    (0..cases).map(|case| run(wrapper, test_name::<F>(), case, &body)).collect()
}

/// As [`isolated_bare`], but started by the command `wrapper`.
pub(crate) fn isolated_bare_in<F: FnOnce()>(wrapper: &[&str], body: F) -> String {
    run(wrapper, test_name::<F>(), 0, |_| body())
}

fn eal(devices: &[&str]) -> Eal {
    let (eal, own_args) = init(eal_args(devices)).expect("the EAL starts");
    assert_eq!(own_args, [""; 0]);
    eal
}

/// Starts the EAL with these words, the first of which stands for the program's name.
pub(crate) fn init<I>(args: I) -> Result<(Eal, Vec<String>), EalError>
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    Eal::init(options(args))
}

/// The same words as options.
pub(crate) fn options<I>(args: I) -> EalOptions
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let words = args.into_iter().skip(1).map(Into::into);
    // SAFETY: the words that tests choose name no plug-in, no address and nothing that the test owns. The programs at the
    // other ends of devices are tests too.
    unsafe { EalOptions::new().raw(words) }
}

/// Attaches a device with these arguments.
#[allow(dead_code, reason = "for the tests in eal/")]
pub(crate) fn attach(eal: &Eal, device: &str) -> Result<Vec<Port<Unconfigured>>, HotplugError> {
    // SAFETY: no argument that tests choose is an address, or names what the test owns. The programs at the other ends of
    // devices are tests too.
    unsafe { eal.attach_raw(device) }
}

/// The EAL's command line for the process of a test.
pub(crate) fn eal_args(devices: &[&str]) -> Vec<String> {
    args_with(&prefix(), devices)
}

/// The EAL file prefix for the process of a test.
pub(crate) fn prefix() -> String {
    env::var(VARIABLE).expect("called in the process of a test")
}

fn args_with(prefix: &str, devices: &[&str]) -> Vec<String> {
    let mut args = vec!["test".to_owned(), format!("--file-prefix={prefix}"), format!("--lcores=(0-2)@({})", cpus())];
    args.extend(["--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "--no-shconf"].map(str::to_owned));
    args.extend(devices.iter().map(|device| format!("--vdev={device}")));
    args.extend(words(TOOL_EAL_ARGS));
    args
}

/// The words in a variable of the environment; none if it is not set.
fn words(variable: &str) -> Vec<String> {
    env::var(variable).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// How long to wait for what takes less than `plain` where no tool slows it down.
pub(crate) fn patience(plain: Duration) -> Duration {
    let times = env::var(TOOL_PATIENCE).map_or(1, |text| text.parse().expect("DPDK_RS_TEST_PATIENCE is a number"));
    plain * times
}

/// A folder for the files of this test's process; removed after it.
pub(crate) fn folder() -> PathBuf {
    let folder = env::temp_dir().join(prefix());
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// The processors that this process may use, as the kernel lists them: `0-3,8`.
fn cpus() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("the file has this line").trim().to_owned()
}

/// The name that the test runner knows the test by: the path of the closure's function, without the crate.
fn test_name<F>() -> &'static str {
    let closure = type_name::<F>();
    let path = closure.split_once("::").map(|(_crate, path)| path);
    path.and_then(|path| path.strip_suffix("::{{closure}}")).unwrap_or_else(|| panic!("{closure} is no test's closure"))
}

/// Runs `body` in a process of its own as case 0, without starting the EAL; from there [`another`] starts more processes for
/// other cases, with the same file prefix.
#[allow(dead_code, reason = "for the tests in eal/")]
pub(crate) fn isolated_first<F: FnOnce(usize)>(body: F) -> String {
    run(&[], test_name::<F>(), 0, body)
}

/// Starts another process of the same test, which runs the test's closure for this case.
#[allow(dead_code, reason = "for the tests in eal/")]
pub(crate) fn another(case: usize) -> Running {
    let own: Vec<String> = env::args().collect();
    let words: Vec<String> = words(TOOL).into_iter().chain(own).collect();
    Running::start(Command::new(&words[0]).args(&words[1..]).env(CASE, case.to_string()))
}

fn run(wrapper: &[&str], test: &str, case: usize, body: impl FnOnce(usize)) -> String {
    if env::var_os(VARIABLE).is_some() {
        let case = env::var(CASE).ok().and_then(|case| case.parse().ok());
        body(case.expect("set with the prefix"));
        process::exit(FINISHED);
    }
    let prefix = new_prefix();
    let program = env::current_exe().expect("a process has a program");
    let program = program.to_str().expect("cargo's paths are UTF-8");
    let mut words: Vec<String> = wrapper.iter().map(|&word| word.to_owned()).chain(words(TOOL)).collect();
    words.extend([program, "--exact", test, "--nocapture", "--test-threads=1"].map(str::to_owned));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(VARIABLE, &prefix).env(CASE, case.to_string()).env_remove("RUST_BACKTRACE");
    keep_runtime_files(&mut command, &prefix);
    let finished = finish(&mut command);
    remove_leftovers(&prefix);
    let (status, output) = (finished.status, finished.stdout + &finished.stderr);
    assert_eq!(status.code(), Some(FINISHED), "the process of case {case} ended with {status}; its output:\n{output}");
    output
}

/// Runs one of the examples to its end, on an EAL as the tests have it.
pub(crate) fn example(name: &str, devices: &[&str], own_args: &[&str]) -> Finished {
    example_until(name, devices, own_args, || false)
}

/// As [`example`], with SIGTERM as soon as `enough` is true.
pub(crate) fn example_until(name: &str, devices: &[&str], own_args: &[&str], enough: impl Fn() -> bool) -> Finished {
    let prefix = new_prefix();
    let mut words = words(TOOL);
    words.push(example_program(name).to_str().expect("cargo's paths are UTF-8").to_owned());
    words.extend_from_slice(&args_with(&prefix, devices)[1..]);
    let mut signalled = false;
    let mut command = Command::new(&words[0]);
    keep_runtime_files(command.args(&words[1..]).args(own_args), &prefix);
    let finished = finish_with(&mut command, |child| {
        if !signalled && enough() {
            signalled = true;
            let pid = i32::try_from(child.id()).expect("Linux has no higher numbers");
            kill(Pid::from_raw(pid), Signal::SIGTERM).expect("the child is ours");
        }
    });
    remove_leftovers(&prefix);
    finished
}

/// Where an example is. Cargo builds them before the tests.
pub(crate) fn example_program(name: &str) -> PathBuf {
    let program = env::current_exe().expect("a process has a program");
    let folder = program.ancestors().nth(2).expect("the tests are in a folder of their own");
    let program = folder.join("examples").join(name);
    assert!(program.exists(), "{} is missing: run `cargo build -p dpdk-rs --examples`", program.display());
    program
}

pub(crate) fn new_prefix() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("dpdk-rs-test-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Has the EAL of a process keep its run-time files in the folder of the test, whatever prefix it uses in the end.
pub(crate) fn keep_runtime_files(command: &mut Command, prefix: &str) {
    let folder = env::temp_dir().join(prefix);
    fs::create_dir_all(&folder).expect("the folder can be created");
    command.env(RUNTIME_DIRECTORY, folder);
}

/// The folder with the run-time files of this test's process, such as the sockets.
#[allow(dead_code, reason = "for the tests in eal/ and sequences/")]
pub(crate) fn runtime_folder() -> PathBuf {
    let directory = env::var_os(RUNTIME_DIRECTORY).expect("set with the prefix");
    PathBuf::from(directory).join("dpdk").join(prefix())
}

/// Removes what the EAL and the test left behind.
pub(crate) fn remove_leftovers(prefix: &str) {
    // The folder exists or not, as the test likes.
    let _ = fs::remove_dir_all(env::temp_dir().join(prefix));
    // The hugepages of a process that was killed, or that has not cleaned up.
    let mounts = fs::read_to_string("/proc/mounts").expect("Linux has this file");
    let hugetlbfs = mounts.lines().filter(|line| line.split(' ').nth(2) == Some("hugetlbfs"));
    let folders = hugetlbfs.filter_map(|line| line.split(' ').nth(1)).filter_map(|folder| fs::read_dir(folder).ok());
    for file in folders.flatten().flatten() {
        if file.file_name().to_string_lossy().starts_with(&format!("{prefix}map_")) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// How a process ended, and what it wrote.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Finished {
    finish_with(command, |_| {})
}

/// The same, with regular checks of the process.
fn finish_with(command: &mut Command, look: impl FnMut(&Child)) -> Finished {
    Running::start(command).finish(look)
}

/// A process, and what it writes.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", command.get_program().display()));
        let stdout = reader(child.stdout.take().expect("it is a pipe"));
        let stderr = reader(child.stderr.take().expect("it is a pipe"));
        Self { child, stdout, stderr }
    }

    /// Waits for its end, with a look at it now and then.
    pub(crate) fn finish(mut self, mut look: impl FnMut(&Child)) -> Finished {
        let allowed = patience(DEADLINE);
        let deadline = Instant::now() + allowed;
        let mut late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child is ours") {
                break status;
            }
            if !late && Instant::now() > deadline {
                late = true;
                self.child.kill().expect("the child is ours");
            }
            look(&self.child);
            thread::sleep(Duration::from_millis(5));
        };
        let stdout = self.stdout.join().expect("the reader ends");
        let stderr = self.stderr.join().expect("the reader ends");
        assert!(!late, "killed, since it did not end within {allowed:?}; its output:\n{stdout}{stderr}");
        Finished { status, stdout, stderr }
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
