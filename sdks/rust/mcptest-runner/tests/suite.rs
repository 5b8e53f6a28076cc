//! The tests of the suite that SUITE names; `sdks/tests` compares what `cargo test` shows with the other frameworks.

fn main() -> std::process::ExitCode {
    let suite = std::env::var("SUITE").unwrap_or_else(|_| "mixed".to_owned());
    mcptest_runner::Suites::new([format!("../../tests/{suite}.test.mcp.yml")]).main()
}
