//! In the modern era over HTTP, arguments whose schema says so stand in headers too: the tools are listed before the first
//! of them is called, unless somebody has listed them.

use super::{Connection, Witness};
use crate::mcp::era;
use crate::source::Json;
use serde_json::json;
use tokio::time::Instant;

/// Longer lists than any server has; past this many pages the calls go without.
const MOST_PAGES: usize = 1000;

impl Connection {
    /// Whether arguments may have to stand in headers, and nobody has asked which.
    pub fn should_list_tools(&mut self) -> bool {
        self.modern.is_some() && self.transport.http().is_some_and(|http| !http.has_listed_tools())
    }

    /// Lists the tools before one is called, page after page; the transport reads along. Without an answer the call goes
    /// out as it is: what the server says to that is what is to be seen.
    pub(super) async fn list_tools_before(&mut self, method: &str, deadline: Instant, witness: &mut dyn Witness) {
        if method != "tools/call" || !self.should_list_tools() {
            return;
        }
        let mut cursor = Json::Null;
        for _ in 0..MOST_PAGES {
            let Some(modern) = &self.modern else { return };
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let params = era::add_meta(Some(params), &modern.meta);
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(answer) = self.request_once("tools/list", Some(params), left, witness).await else { return };
            let next = answer.body().ok().and_then(|mut page| page.get_mut("nextCursor").map(Json::take));
            match next {
                Some(next @ Json::String(_)) if next != cursor => cursor = next,
                _ => return,
            }
        }
    }
}
