//! What a round trip to a plugin costs at the least: `pipe COMMAND [ARG…]` writes a request, reads a line, and looks at
//! nothing. It prints microseconds per call, of the fastest batch, as `mcptest extension bench` does.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BUDGET: Duration = Duration::from_millis(500);
const BATCHES: u32 = 20;

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or_else(|| io::Error::other("usage: pipe COMMAND [ARG…]"))?;
    let mut plugin = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(output)) = (plugin.stdin.take(), plugin.stdout.take()) else {
        return Err(io::Error::other("no pipes"));
    };
    let mut output = BufReader::with_capacity(1 << 16, output);
    let (mut line, mut id) = (String::new(), 0_u64);
    let mut call = || -> io::Result<()> {
        id += 1;
        let params = r#"{"expected":[3,0.5],"actual":3.2,"path":"$","step":"bench"}"#;
        input.write_all(format!("{{\"method\":\"near\",\"params\":{params},\"id\":{id}}}\n").as_bytes())?;
        line.clear();
        output.read_line(&mut line).map(drop)
    };
    call()?;
    let began = Instant::now();
    call()?;
    let once = began.elapsed().max(Duration::from_nanos(100));
    let calls = (BUDGET.as_nanos() / u128::from(BATCHES) / once.as_nanos()).clamp(1, 1_000_000) as u32;
    let mut best = f64::MAX;
    for _ in 0..BATCHES {
        let began = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        best = best.min(began.elapsed().as_secs_f64() / f64::from(calls));
    }
    println!("{:.2}", best * 1e6);
    drop(input);
    plugin.wait().map(drop)
}
