//! What a guest writes to stdout and stderr: the end of it is kept, the rest is dropped, and writing never fails.

use crate::extension::Limits;
use bytes::Bytes;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The end of an output.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Takes what was written since the last time.
    pub(super) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&Vec::from(bytes)).into_owned()
    }

    /// Forgets what was written.
    pub(super) fn clear(&self) {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !bytes.is_empty() {
            bytes.clear();
        }
    }

    fn write(&self, text: &[u8]) {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = &text[text.len().saturating_sub(Limits::TAIL)..];
        let over = (bytes.len() + text.len()).saturating_sub(Limits::TAIL);
        bytes.drain(..over);
        bytes.extend(text);
    }
}

impl IsTerminal for Tail {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Tail {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Tail {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        Tail::write(self, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 * 1024)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Tail {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Tail {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Tail::write(&self, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let tail = Tail::default();
        tail.write(b"lost");
        tail.write(&vec![b'x'; 3 * Limits::TAIL]);
        tail.write(b"end");
        let text = tail.take();
        assert_eq!(text.len(), Limits::TAIL);
        assert!(text.ends_with("xend"));
        assert_eq!(tail.take(), "");
    }
}
