//! What crosses the boundary, generated from `wit/`.
#![allow(missing_docs, unreachable_pub, reason = "generated")]
#![allow(unsafe_code, reason = "generated: wasmtime checks the types against the component when it is linked")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "extension",
    ownership: Borrowing { duplicate_if_necessary: true },
    exports: { default: async },
});

/// The same functions of a matcher, called on the caller's own stack.
pub mod prompt {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "matcher",
        ownership: Borrowing { duplicate_if_necessary: true },
        with: {
            "mcptest:extension/types": super::mcptest::extension::types,
            "mcptest:extension/host": super::mcptest::extension::host,
        },
    });
}
