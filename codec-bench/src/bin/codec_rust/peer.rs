// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The server in a process of its own, which this program starts.

use std::{
    env,
    error::Error,
    fs::File,
    io,
    net::{TcpListener, TcpStream},
    os::fd::{AsFd, OwnedFd},
    process::{Child, Command, Stdio},
};

use codec_bench::contract::{Exchange, Failure, Peer};

use crate::options::{Mode, Options};

/// The child process, and the way to it.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) peer: Peer,
}

/// Starts this program once more, as a server on stdin and stdout: pipes, or a connection over loopback.
pub(crate) fn start(options: &Options) -> Result<Server, Box<dyn Error>> {
    let program = env::current_exe()?;
    let mut command = match options.peer_cpu {
        Some(cpu) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(cpu.to_string()).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.arg("answer").arg(options.library.name).arg(options.case.name());
    if options.form.packed {
        command.arg("--packed");
    }
    if options.form.reuse {
        command.arg("--reuse");
    }
    if options.mode == Mode::Tcp {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        for stream in [&near, &far] {
            stream.set_nodelay(true)?;
        }
        let far = OwnedFd::from(far);
        command.stdin(Stdio::from(far.try_clone()?)).stdout(Stdio::from(far));
        let child = command.spawn()?;
        let near = OwnedFd::from(near);
        return Ok(Server { child, peer: Peer::new(File::from(near.try_clone()?), File::from(near)) });
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err("the server has no pipes".into());
    };
    Ok(Server { child, peer: Peer::new(File::from(OwnedFd::from(input)), File::from(OwnedFd::from(output))) })
}

/// Answers on stdin and stdout until the client has gone.
pub(crate) fn answer(mut exchange: Box<dyn Exchange>) -> Result<(), Failure> {
    let owned = |stream: &dyn AsFd| -> io::Result<File> { Ok(File::from(stream.as_fd().try_clone_to_owned()?)) };
    let mut peer = Peer::new(owned(&io::stdin())?, owned(&io::stdout())?);
    while exchange.answer(&mut peer)?.is_some() {}
    Ok(())
}
