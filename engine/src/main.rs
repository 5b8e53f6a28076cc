//! The `mcptest` binary.

fn main() -> std::process::ExitCode {
    mcptest_engine::cli::main()
}
