//! The pages of a listing, followed to the end and joined.

use super::call::End;
use super::exchange::Exchange;
use super::line::page;
use crate::mcp::message::Message;
use crate::source::{Json, Node};
use crate::suite::Listing;
use std::collections::HashSet;
use std::rc::Rc;

/// How many pages a listing may have: more is a loop.
const MOST_PAGES: usize = 10_000;

/// The pages of a listing so far.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) listing: Listing,
    pub(super) meta: Option<Node>,
    /// The answer so far, all pages joined.
    pub(super) joined: Option<Json>,
    cursors: HashSet<String>,
}

impl Pages {
    pub(super) fn new(listing: Listing, meta: Option<&Node>) -> Pages {
        Pages { listing, meta: meta.cloned(), joined: None, cursors: HashSet::new() }
    }

    /// Takes one page in; the next cursor, if there is one.
    pub(super) fn take(&mut self, mut response: Json) -> Result<Option<String>, String> {
        let key = self.listing.key();
        let cursor = match response.get_mut("result").and_then(|result| result.as_object_mut()?.remove("nextCursor")) {
            None | Some(Json::Null) => None,
            Some(Json::String(cursor)) => Some(cursor),
            Some(other) => return Err(format!("`nextCursor` is no text: {other}")),
        };
        let is_error = response.get("error").is_some_and(|error| !error.is_null());
        let list = response.pointer_mut(&format!("/result/{key}")).filter(|_| !is_error);
        let items = match list.map(Json::take) {
            Some(Json::Array(items)) => items,
            None if is_error => Vec::new(),
            _ => return Err(format!("a page has no list `{key}`")),
        };
        let all = self.joined.as_mut().and_then(|joined| joined.pointer_mut(&format!("/result/{key}"))?.as_array_mut());
        match all {
            Some(all) if !is_error => all.extend(items),
            _ => {
                if !is_error {
                    response["result"][key] = Json::Array(items);
                }
                self.joined = Some(response);
            }
        }
        match &cursor {
            Some(cursor) if !self.cursors.insert(cursor.clone()) => {
                Err(format!("the pages never end: the cursor `{cursor}` came twice"))
            }
            Some(_) if self.cursors.len() >= MOST_PAGES => Err(format!("the pages never end: {MOST_PAGES} came")),
            _ => Ok(cursor),
        }
    }
}

impl Exchange<'_> {
    /// A page of a listing came: asks for the next one, or ends the call.
    pub(super) async fn turn_page(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(pages) = &mut call.pages else { return };
        let next = message.value().map_err(|malformed| malformed.to_string()).and_then(|value| pages.take(value));
        call.window.received(message.clone());
        match next {
            Err(why) => call.end = Some(End::Malformed(why)),
            Ok(None) => {
                call.answer = Some(message);
                call.end = Some(End::Done);
            }
            Ok(Some(cursor)) => {
                let id = self.session.connection.fresh_id();
                call.line = page(pages.listing, Some(&cursor), pages.meta.as_ref(), id);
                self.send(at).await;
            }
        }
    }
}
