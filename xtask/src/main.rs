//! The project's commands: `cargo xtask demo | test | guests | bindings | tools | gen | bench | fuzz`.

mod bench;
mod bindings;
mod demo;
mod engine;
mod fuzz;
mod gen_schemas;
mod guests;
mod languages;
mod process;
mod test;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo                 build the engine and run the quickstart against the server inside it
  test [--only NAME]   run everything that must hold; --only runs the steps whose name contains NAME
  guests               build the WebAssembly guests into target/guests
  tools                install the pinned servers from npm and PyPI below target/tools
  bindings             make the C bindings in wit/c from the contract
  gen                  write docs/schemas from the engine
  bench [--quick]      measure, and print the table that stands in the README
  fuzz [--seconds N]   fuzz each target for N seconds (60); needs a nightly toolchain
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["demo"] => demo::run(),
        ["test"] => test::run(None),
        ["test", "--only", name] => test::run(Some(name)),
        ["guests"] => guests::build(false),
        ["tools"] => tools::install_all(),
        ["bindings"] => bindings::write(),
        ["gen"] => gen_schemas::write(),
        ["bench"] => bench::run(false),
        ["bench", "--quick"] => bench::run(true),
        ["fuzz"] => fuzz::run(60),
        ["fuzz", "--seconds", seconds] if seconds.parse::<u32>().is_ok() => fuzz::run(seconds.parse().unwrap_or(60)),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
