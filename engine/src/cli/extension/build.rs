//! `mcptest extension build`: from a core module to a component, for languages whose toolchain stops before that.

use super::BuildArgs;
use crate::cli::{BAD_INPUT, OK, screen};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The contract, as this version speaks it.
const WIT: &str = include_str!("../../../../wit/mcptest.wit");
/// The section in which a language's bindings leave what they implement.
const METADATA: &[u8] = b"component-type";

pub(super) fn build(args: &BuildArgs) -> u8 {
    match component(args) {
        Ok(bytes) => match std::fs::write(&args.output, &bytes) {
            Ok(()) => {
                screen::print(&format!("{}: {} bytes\n", args.output.display(), bytes.len()));
                OK
            }
            Err(error) => fail(&format!("`{}` cannot be written: {error}", args.output.display()), ""),
        },
        Err((message, hint)) => fail(&message, &hint),
    }
}

fn fail(message: &str, hint: &str) -> u8 {
    screen::tell(&format!("error: {message}\n"));
    if !hint.is_empty() {
        screen::tell(&format!("hint: {hint}\n"));
    }
    BAD_INPUT
}

fn component(args: &BuildArgs) -> Result<Vec<u8>, (String, String)> {
    let shown = args.file.display();
    let plain = |message: String| (message, String::new());
    let mut module = std::fs::read(&args.file).map_err(|error| plain(format!("`{shown}` cannot be read: {error}")))?;
    if module.starts_with(b"\0asm\x0d\x00\x01\x00") {
        return Err((
            format!("`{shown}` is a component already"),
            format!("`mcptest extension inspect {shown}` shows it"),
        ));
    }
    if !module.starts_with(b"\0asm\x01\x00\x00\x00") {
        return Err(plain(format!("`{shown}` is no WebAssembly module")));
    }
    let describes_itself = module.windows(METADATA.len()).any(|window| window == METADATA);
    match &args.world {
        Some(world) => embed(&mut module, world).map_err(plain)?,
        None if !describes_itself => {
            return Err((
                format!("`{shown}` does not say which world it implements"),
                "name it: `--world matcher`, `reporter`, `transform` or `extension`".to_owned(),
            ));
        }
        None => {}
    }
    let encoder = ComponentEncoder::default().validate(true).module(&module);
    let encoder = encoder.and_then(|encoder| {
        encoder.adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)
    });
    encoder.and_then(|mut encoder| encoder.encode()).map_err(|error| {
        let chain: Vec<String> = error.chain().map(|cause| cause.to_string()).collect();
        (
            format!("`{shown}` does not make a component: {}", chain.join(": ")),
            "the names of its exports are those of the canonical ABI: `mcptest:extension/matching@0.1.0#evaluate`, `cabi_realloc`, `memory`".to_owned(),
        )
    })
}

/// Writes into the module which world it implements.
fn embed(module: &mut Vec<u8>, world: &str) -> Result<(), String> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("mcptest.wit", WIT).map_err(|error| format!("{error:#}"))?;
    let known = || resolve.packages[package].worlds.keys().map(String::as_str).collect::<Vec<_>>().join("`, `");
    let Some(world) = resolve.packages[package].worlds.get(world).copied() else {
        return Err(format!("there is no world `{world}`; there are `{}`", known()));
    };
    embed_component_metadata(module, &resolve, world, StringEncoding::UTF8).map_err(|error| format!("{error:#}"))
}
