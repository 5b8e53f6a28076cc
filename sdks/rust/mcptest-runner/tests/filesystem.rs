//! A suite about a real server.

fn main() -> std::process::ExitCode {
    mcptest_runner::Suites::new(["../../tests/filesystem.test.mcp.yml"]).main()
}
