//! `cargo xtask bindings`: the C bindings in `wit/c`, made of the contract with a pinned generator.
//!
//! They are kept in the repository so that C and Zig need no generator. Beside them stands what they were made from.

use crate::process::{cargo, output, root, tools_dir};
use crate::tools::twice;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

/// The generator's version; its crates are those of the guest SDK.
const GENERATOR: &str = "0.63.0";
/// The end of the generated file asks for an object file that `mcptest extension build --world` makes unnecessary.
const OBJECT: &str = "// Ensure that the *_component_type.o object is linked in";

fn folder() -> PathBuf {
    root().join("wit").join("c")
}

/// Makes them anew.
pub fn write() -> Result<()> {
    let tool = tools_dir().join("wit-bindgen");
    let program = tool.join("bin").join("wit-bindgen");
    let version = Command::new(&program).arg("--version").output();
    if !version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains(GENERATOR)) {
        println!("installing wit-bindgen {GENERATOR}");
        let args = ["install", "wit-bindgen-cli", "--version", GENERATOR, "--locked", "--debug", "--quiet"];
        let mut install = cargo(&args);
        install.args(["--no-default-features", "--features", "c", "--root"]).arg(&tool);
        twice(|| output(&mut install))?;
    }
    let mut generate = Command::new(&program);
    generate.args(["c", "wit", "--world", "matcher", "--no-object-file", "--out-dir"]).arg(folder());
    output(generate.current_dir(root()))?;
    for name in ["matcher.c", "matcher.h"] {
        let path = folder().join(name);
        let text = std::fs::read_to_string(&path)?;
        let text = text.split(OBJECT).next().unwrap_or_default();
        std::fs::write(path, format!("{}\n", text.trim_end()))?;
    }
    std::fs::write(folder().join("generated-from"), origin()?)?;
    Ok(())
}

/// They were made from the contract as it is.
pub fn check() -> Result<()> {
    let made_from =
        std::fs::read_to_string(folder().join("generated-from")).context("`wit/c` has no `generated-from`")?;
    ensure!(made_from == origin()?, "`wit/c` is out of date: run `cargo xtask bindings`");
    Ok(())
}

fn origin() -> Result<String> {
    let wit = std::fs::read_to_string(root().join("wit").join("mcptest.wit"))?;
    Ok(format!("wit-bindgen {GENERATOR}\nmcptest.wit {:016x}\n", fnv1a(wit.as_bytes())))
}

/// A digest that only has to notice an edit.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
