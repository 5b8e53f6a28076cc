//! Holds a guest to its [`Limits`].

use crate::extension::Limits;
use wasmtime::ResourceLimiter;

/// Refuses what goes over the limits, and remembers it for the fault.
#[derive(Debug)]
pub(super) struct Limiter {
    limits: Limits,
    memory: usize,
    tables: usize,
    /// The limit that was hit, in words.
    pub(super) hit: Option<String>,
}

impl Limiter {
    pub(super) fn new(limits: Limits) -> Limiter {
        Limiter { limits, memory: 0, tables: 0, hit: None }
    }

    fn refuse(&mut self, what: String) -> wasmtime::Result<bool> {
        self.hit = Some(what.clone());
        Err(wasmtime::Error::msg(what))
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _most: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total <= self.limits.memory {
            self.memory = total;
            return Ok(true);
        }
        self.refuse(format!("it wants {total} bytes of memory, and may have {}", self.limits.memory))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _most: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.tables.saturating_add(desired.saturating_sub(current));
        if total <= self.limits.table_elements {
            self.tables = total;
            return Ok(true);
        }
        self.refuse(format!("it wants tables of {total} elements, and may have {}", self.limits.table_elements))
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.instances
    }
}
