//! What a call through the coprocess costs beside the same call without it: `coprocess ENGINE SERVER`.
//!
//! In turn it talks to `cat`, which gives a line back as it came, to the server itself, and to the server through
//! `ENGINE exec --connection-server`. It prints medians: the time from the start of the process to the first answer of
//! the tool, and of one further call.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 15;
const CALLS: u32 = 500;
const HELLO: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}"#;
const DIRECT: &str = r#""method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}"#;
const THROUGH: &str = r#""method":"mcp.call","params":{"tool":"echo","arguments":{"message":"hello"}}"#;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [engine, server] = args.as_slice() else { return Err(io::Error::other("usage: coprocess ENGINE SERVER")) };
    let hello = format!(r#""method":"initialize","params":{HELLO}"#);
    let handshake = r#""method":"coprocess/handshake","params":{"protocol_version":2}"#;
    let flags = ["exec", "--connection-server", "--server-command", server];
    let [mut pipe, mut direct, mut through] = [(); 3].map(|()| Figures::default());
    for _ in 0..ROUNDS {
        pipe.measure(&mut Command::new("cat"), DIRECT, DIRECT)?;
        direct.measure(&mut Command::new(server), &hello, DIRECT)?;
        through.measure(Command::new(engine).args(flags), handshake, THROUGH)?;
    }
    println!("pipe_us {:.2}", median(pipe.call) * 1e6);
    println!("direct_us {:.2}", median(direct.call) * 1e6);
    println!("coprocess_us {:.2}", median(through.call) * 1e6);
    println!("direct_first_ms {:.2}", median(direct.first) * 1e3);
    println!("coprocess_first_ms {:.2}", median(through.first) * 1e3);
    Ok(())
}

/// Seconds, one of each a round.
#[derive(Default)]
struct Figures {
    first: Vec<f64>,
    call: Vec<f64>,
}

impl Figures {
    /// Starts a process, says `hello`, calls, and awaits its end.
    fn measure(&mut self, command: &mut Command, hello: &str, call: &str) -> io::Result<()> {
        let began = Instant::now();
        let mut peer = Peer::start(command)?;
        peer.ask(hello)?;
        peer.ask(call)?;
        self.first.push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        for _ in 0..CALLS {
            peer.ask(call)?;
        }
        self.call.push(began.elapsed().as_secs_f64() / f64::from(CALLS));
        peer.end()
    }
}

struct Peer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    last_id: u64,
}

impl Peer {
    fn start(command: &mut Command) -> io::Result<Peer> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        Ok(Peer { process, input, output: BufReader::new(output), line: String::new(), last_id: 0 })
    }

    /// Sends a request and reads the line that answers it, which must be no error.
    fn ask(&mut self, what: &str) -> io::Result<()> {
        self.last_id += 1;
        let id = format!("\"id\":{}", self.last_id);
        self.input.write_all(format!("{{\"jsonrpc\":\"2.0\",{id},{what}}}\n").as_bytes())?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        match self.line.contains(&id) && !self.line.contains("\"error\":{") {
            true => Ok(()),
            false => Err(io::Error::other(format!("no answer to {what}: {}", self.line))),
        }
    }

    fn end(mut self) -> io::Result<()> {
        drop(self.input);
        self.process.wait().map(drop)
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
