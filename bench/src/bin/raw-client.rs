//! The least a client can do: `raw-client CALLS TOOL MESSAGE COMMAND [ARG…]`.
//!
//! It starts the server, shakes hands, calls the tool so many times one after the other, closes the server's input and
//! awaits its exit. It parses nothing: a line that holds the id is the answer.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

const HELLO: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}"#;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [calls, tool, message, command, rest @ ..] = args.as_slice() else {
        eprintln!("usage: raw-client CALLS TOOL MESSAGE COMMAND [ARG…]");
        return ExitCode::from(2);
    };
    match converse(calls.parse().unwrap_or(1), tool, message, Command::new(command).args(rest)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn converse(calls: u32, tool: &str, message: &str, command: &mut Command) -> io::Result<()> {
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::Error::other("no pipes"));
    };
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut line = String::new();
    writeln!(input, r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{HELLO}}}"#)?;
    await_answer(&mut output, &mut line, "\"id\":0")?;
    writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
    let (mut request, mut id) = (String::new(), String::new());
    for call in 1..=calls {
        id.clear();
        request.clear();
        id.push_str(&format!("\"id\":{call}"));
        request.push_str(&format!(
            "{{\"jsonrpc\":\"2.0\",{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{{\"message\":\"{message}\"}}}}}}\n"
        ));
        input.write_all(request.as_bytes())?;
        await_answer(&mut output, &mut line, &id)?;
    }
    drop(input);
    server.wait().map(drop)
}

fn await_answer(output: &mut impl BufRead, line: &mut String, id: &str) -> io::Result<()> {
    loop {
        line.clear();
        if output.read_line(line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.contains(id) {
            return Ok(());
        }
    }
}
