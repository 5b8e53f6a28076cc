//! A scripted plugin: a matcher, a reporter and a transform that does what the argument of the matcher says.
//!
//! ```text
//! fixture-plugin [--bound | --mcp | --http FILE] [--careful] [--pid-file FILE] [--ignore-eof] [--fork]
//!     [--handshake JSON|WORD]
//! ```
//!
//! The argument of the matcher is `{do: WORD}`; the words are in [`deeds`] and [`wire`]. `--careful` refuses
//! what it cannot do, as a plugin should. `--http` listens on a free port, and writes its address into the file; it is the
//! last flag.

mod deeds;
mod http;
mod mcp;
mod wire;

use std::io::Write;
use std::process::{Command, Stdio};

/// How it was started.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) bound: bool,
    pub(crate) mcp: bool,
    pub(crate) careful: bool,
    pub(crate) ignore_eof: bool,
    fork: bool,
    pub(crate) pid_file: Option<String>,
    pub(crate) handshake: Option<String>,
}

fn main() {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
        match arg.as_str() {
            "--bound" => options.bound = true,
            "--mcp" => options.mcp = true,
            "--careful" => options.careful = true,
            "--ignore-eof" => options.ignore_eof = true,
            "--fork" => options.fork = true,
            "--http" => http::serve(&value(), options.careful),
            "--pid-file" => options.pid_file = Some(value()),
            "--handshake" => options.handshake = Some(value()),
            _ => panic!("unknown flag {arg}"),
        }
    }
    note(&options, std::process::id());
    if options.fork {
        note(&options, fork());
    }
    wire::serve(&options);
    if options.ignore_eof {
        loop {
            std::thread::park();
        }
    }
}

/// Starts a process that holds this one's stdout and outlives it.
pub(crate) fn fork() -> u32 {
    let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn();
    child.expect("sleep starts").id()
}

/// Writes a process down, for the test to look after.
pub(crate) fn note(options: &Options, pid: u32) {
    if let Some(path) = &options.pid_file {
        let mut file = std::fs::File::options().create(true).append(true).open(path).expect("the pid file opens");
        writeln!(file, "{pid}").expect("the pid file takes a line");
    }
}
