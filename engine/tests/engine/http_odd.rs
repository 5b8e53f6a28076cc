//! Servers over HTTP that answer in a way that looks well and is not: what clients make of it, and what is told.

use crate::http::place;

const CALLS: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }\n";

#[test]
fn frames_show_the_handshake_and_the_end_of_the_session() {
    let said = place("echo", "", CALLS).mcptest(&["run", "--show-frames"]);
    let order = [
        "\"method\":\"initialize\"",
        "\"serverInfo\"",
        "notifications/initialized",
        "tools/call",
        "DELETE /mcp → 200 OK",
    ];
    let found: Vec<Option<usize>> = order.iter().map(|text| said.stdout.find(text)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?} {}", said.stdout);
    let quiet = place("echo", "", CALLS).mcptest(&["run"]);
    assert!(!quiet.stdout.contains("initialize") && !quiet.stdout.contains("DELETE"), "{}", quiet.stdout);
}
