//! A suite with every lane and every outcome; `sdks/tests` compares what `cargo test` shows with the other frameworks.

fn main() -> std::process::ExitCode {
    mcptest_runner::Suites::new(["../../tests/mixed.test.mcp.yml"]).main()
}
