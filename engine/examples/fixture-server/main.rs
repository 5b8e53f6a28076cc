//! A scripted MCP server: well behaved by default, and wrong in one chosen way or several.
//!
//! ```text
//! fixture-server [FLAG …]
//! ```
//!
//! The flags are in [`options::HELP`]; the tools in [`tools`].

mod http;
mod modern;
mod old_sse;
mod options;
mod polled;
mod processes;
mod serve;
mod tasks;
mod tools;
mod wire;

use options::Options;

fn main() {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n\n{}", options::HELP);
            std::process::exit(2);
        }
    };
    processes::prepare(&options);
    match options.http {
        Some(port) => {
            std::thread::sleep(options.slow_start);
            http::run(port, &options.http_mode);
        }
        None => serve::run(options),
    }
}
