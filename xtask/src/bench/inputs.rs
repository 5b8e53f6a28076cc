//! The suites and configs that the benchmarks run, written anew each time.

use anyhow::Result;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The folder they are in.
pub struct Inputs {
    pub folder: PathBuf,
}

impl Inputs {
    /// Writes them.
    pub fn write(folder: &Path, echo: &str, everything: &str) -> Result<Inputs> {
        std::fs::create_dir_all(folder)?;
        let put = |name: &str, text: String| std::fs::write(folder.join(name), text);
        put("mcptest.yml", format!("name: echo\ncommand: {echo}\n"))?;
        // Longer than a component takes to compile, and without work for a core.
        put("slow.yml", format!("name: slow\ncommand: [sh, -c, \"sleep 1; exec {echo}\"]\n"))?;
        let config = format!(
            "{{ \"name\": \"everything\", \"command\": \"{everything}\", \"args\": [], \"startupTimeout\": 30000 }}\n"
        );
        put("aegis.config.json", config)?;
        for count in [1, 1000, 10_000] {
            put(&format!("calls-{count}.test.mcp.yml"), calls(count))?;
        }
        for count in [1, 10_000] {
            put(&format!("regex-{count}.test.mcp.yml"), patterns(count))?;
        }
        std::fs::create_dir_all(folder.join("many"))?;
        for number in 0..100 {
            put(&format!("many/{number}.test.mcp.yml"), patterns(10))?;
        }
        let near = "tools:\n  - { it: near, tool: echo, args: { message: hello }, expect: { content: { $length: { $near: [1, 0.5] } } } }\n";
        put("near-1.test.mcp.yml", near.to_owned())?;
        put("large-10000.test.mcp.yml", large(10_000))?;
        for count in [1, 100] {
            put(&format!("everything-{count}.test.mcp.yml"), raw_lane(count))?;
        }
        put("big.test.mcp.yml", big(10_000_000))?;
        Ok(Inputs { folder: folder.to_path_buf() })
    }
}

fn calls(count: usize) -> String {
    let mut suite = String::from("description: calls\ntools:\n");
    for index in 0..count {
        let _ = writeln!(
            suite,
            "  - {{ it: call {index}, tool: echo, args: {{ message: hello }}, expect: {{ text: hello }} }}"
        );
    }
    suite
}

fn patterns(count: usize) -> String {
    let mut suite = String::from("description: patterns\ntools:\n");
    for index in 0..count {
        let _ = writeln!(
            suite,
            "  - {{ it: call {index}, tool: echo, args: {{ message: hello }}, expect: {{ text: {{ $regex: \"^hel+o$\" }} }} }}"
        );
    }
    suite
}

fn large(count: usize) -> String {
    let mut suite = String::from("description: large answers\ntools:\n");
    for index in 0..count {
        let _ = writeln!(
            suite,
            "  - {{ it: call {index}, tool: large, args: {{ message: \"65536\" }}, expect: {{ text: {{ $length: 65536 }} }} }}"
        );
    }
    suite
}

/// Raw JSON-RPC steps, which mcp-aegis reads too.
fn raw_lane(count: usize) -> String {
    let mut suite = String::from("description: \"everything\"\ntests:\n");
    for index in 0..count {
        let _ = writeln!(
            suite,
            r#"  - it: "call {index}"
    request:
      jsonrpc: "2.0"
      id: "call-{index}"
      method: "tools/call"
      params: {{ name: "echo", arguments: {{ message: "hello" }} }}
    expect:
      response:
        jsonrpc: "2.0"
        id: "call-{index}"
        result: {{ content: [{{ type: "text", text: "Echo: hello" }}] }}"#
        );
    }
    suite
}

/// A suite of at least so many bytes, with the variety of a written one.
fn big(bytes: usize) -> String {
    let mut suite = String::from("description: big\ntools:\n");
    let mut index = 0;
    while suite.len() < bytes {
        let _ = writeln!(
            suite,
            r#"  - it: case {index} of a long suite
    tags: [generated, "group-{}"]
    tool: echo_json
    args: {{ value: {{ id: {index}, name: "name {index}", nested: {{ list: [1, 2, 3], flag: true }} }} }}
    expect:
      structured:
        $partial: {{ id: {index}, name: "match:^name \\d+$", nested: {{ list: {{ $length: 3 }} }} }}
      text: {{ $contains: "name {index}" }}"#,
            index % 50
        );
        index += 1;
    }
    suite
}
