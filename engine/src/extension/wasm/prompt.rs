//! WASI for guests that have nothing to wait for: they run on the caller's own stack, and a call costs half.
//!
//! A guest that is to be stopped while it sleeps in a host call needs a stack of its own, which is left and come back to.
//! One that imports no clocks, files and sockets cannot sleep: its stdin is closed, its outputs are kept in memory, and
//! whatever it awaits of them is there at the first look. It computes, and the epoch ends that.

use super::state::State;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::io::{poll as waiting, streams as slow};
use wasmtime_wasi::p2::bindings::sync::io::poll::{self, Pollable};
use wasmtime_wasi::p2::bindings::sync::io::streams::{self, InputStream, OutputStream};
use wasmtime_wasi::p2::{StreamError, StreamResult};

/// Puts streams and polls in the place of those that wait.
pub(super) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    poll::add_to_linker::<State, AtHand>(linker, |state| Prompt(state.table()))?;
    streams::add_to_linker::<State, AtHand>(linker, |state| Prompt(state.table()))?;
    linker.allow_shadowing(false);
    Ok(())
}

struct AtHand;

impl HasData for AtHand {
    type Data<'a> = Prompt<'a>;
}

struct Prompt<'a>(&'a mut ResourceTable);

/// What is there at the first look; what is not would never come.
fn at_hand<T>(future: impl Future<Output = T>) -> wasmtime::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(wasmtime::format_err!("the guest waits for what can never come")),
    }
}

fn stream_at_hand<T>(future: impl Future<Output = StreamResult<T>>) -> StreamResult<T> {
    at_hand(future).map_err(StreamError::Trap)?
}

impl poll::Host for Prompt<'_> {
    fn poll(&mut self, pollables: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        at_hand(waiting::Host::poll(self.0, pollables))?
    }
}

impl poll::HostPollable for Prompt<'_> {
    fn ready(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        at_hand(waiting::HostPollable::ready(self.0, pollable))?
    }

    fn block(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        at_hand(waiting::HostPollable::block(self.0, pollable))?
    }

    fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        waiting::HostPollable::drop(self.0, pollable)
    }
}

impl streams::Host for Prompt<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        slow::Host::convert_stream_error(self.0, error).map(Into::into)
    }
}

impl streams::HostInputStream for Prompt<'_> {
    fn read(&mut self, stream: Resource<InputStream>, most: u64) -> StreamResult<Vec<u8>> {
        slow::HostInputStream::read(self.0, stream, most)
    }

    fn blocking_read(&mut self, stream: Resource<InputStream>, most: u64) -> StreamResult<Vec<u8>> {
        stream_at_hand(slow::HostInputStream::blocking_read(self.0, stream, most))
    }

    fn skip(&mut self, stream: Resource<InputStream>, most: u64) -> StreamResult<u64> {
        slow::HostInputStream::skip(self.0, stream, most)
    }

    fn blocking_skip(&mut self, stream: Resource<InputStream>, most: u64) -> StreamResult<u64> {
        stream_at_hand(slow::HostInputStream::blocking_skip(self.0, stream, most))
    }

    fn subscribe(&mut self, stream: Resource<InputStream>) -> wasmtime::Result<Resource<Pollable>> {
        slow::HostInputStream::subscribe(self.0, stream)
    }

    fn drop(&mut self, stream: Resource<InputStream>) -> wasmtime::Result<()> {
        at_hand(slow::HostInputStream::drop(self.0, stream))?
    }
}

impl streams::HostOutputStream for Prompt<'_> {
    fn check_write(&mut self, stream: Resource<OutputStream>) -> StreamResult<u64> {
        slow::HostOutputStream::check_write(self.0, stream)
    }

    fn write(&mut self, stream: Resource<OutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        slow::HostOutputStream::write(self.0, stream, bytes)
    }

    fn blocking_write_and_flush(&mut self, stream: Resource<OutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        stream_at_hand(slow::HostOutputStream::blocking_write_and_flush(self.0, stream, bytes))
    }

    fn write_zeroes(&mut self, stream: Resource<OutputStream>, count: u64) -> StreamResult<()> {
        slow::HostOutputStream::write_zeroes(self.0, stream, count)
    }

    fn blocking_write_zeroes_and_flush(&mut self, stream: Resource<OutputStream>, count: u64) -> StreamResult<()> {
        stream_at_hand(slow::HostOutputStream::blocking_write_zeroes_and_flush(self.0, stream, count))
    }

    fn flush(&mut self, stream: Resource<OutputStream>) -> StreamResult<()> {
        slow::HostOutputStream::flush(self.0, stream)
    }

    fn blocking_flush(&mut self, stream: Resource<OutputStream>) -> StreamResult<()> {
        stream_at_hand(slow::HostOutputStream::blocking_flush(self.0, stream))
    }

    fn splice(&mut self, into: Resource<OutputStream>, from: Resource<InputStream>, most: u64) -> StreamResult<u64> {
        slow::HostOutputStream::splice(self.0, into, from, most)
    }

    fn blocking_splice(
        &mut self,
        into: Resource<OutputStream>,
        from: Resource<InputStream>,
        most: u64,
    ) -> StreamResult<u64> {
        stream_at_hand(slow::HostOutputStream::blocking_splice(self.0, into, from, most))
    }

    fn subscribe(&mut self, stream: Resource<OutputStream>) -> wasmtime::Result<Resource<Pollable>> {
        slow::HostOutputStream::subscribe(self.0, stream)
    }

    fn drop(&mut self, stream: Resource<OutputStream>) -> wasmtime::Result<()> {
        at_hand(slow::HostOutputStream::drop(self.0, stream))?
    }
}

#[cfg(test)]
mod tests {
    use super::at_hand;

    #[test]
    fn what_is_not_there_is_not_waited_for() {
        assert_eq!(at_hand(std::future::ready(7)).unwrap(), 7);
        let error = at_hand(std::future::pending::<()>()).expect_err("it never comes");
        assert!(error.to_string().contains("can never come"), "{error}");
    }
}
