//! Ids that belong to a session and stand inside of what is recorded: progress tokens, and the ids of subscriptions.

use super::TOKEN;
use crate::mcp::era::SUBSCRIPTION_ID;
use crate::source::Json;

/// The token under which a request wants to hear of its progress.
pub(super) fn token(request: &Json) -> Option<&Json> {
    request.get("params")?.get("_meta")?.get(TOKEN)
}

/// The subscription that a notification acknowledges.
pub(super) fn acknowledged(notification: &Json) -> Option<&Json> {
    let is_one = notification.get("method")? == "notifications/subscriptions/acknowledged";
    notification.get("params")?.get("_meta")?.get(SUBSCRIPTION_ID).filter(|_| is_one)
}

/// The token under which a notification tells of progress.
pub(super) fn progressing(notification: &Json) -> Option<&Json> {
    let is_one = notification.get("method")? == "notifications/progress";
    notification.get("params")?.get(TOKEN).filter(|_| is_one)
}

/// What things were called when they were recorded, and what they are called now.
#[derive(Debug, Default)]
pub(super) struct Names {
    tokens: Vec<(Json, Json)>,
    subscriptions: Vec<(Json, Json)>,
}

impl Names {
    /// From here on a token has another name.
    pub(super) fn token(&mut self, recorded: &Json, asked: &Json) {
        learn(&mut self.tokens, recorded, asked);
    }

    /// From here on a subscription has another name.
    pub(super) fn subscription(&mut self, recorded: &Json, asked: &Json) {
        learn(&mut self.subscriptions, recorded, asked);
    }

    /// Puts the names of today into something that was recorded.
    pub(super) fn put(&self, message: &mut Json) {
        for body in ["params", "result"] {
            let Some(body) = message.get_mut(body) else { continue };
            rename(body.get_mut(TOKEN), &self.tokens);
            rename(body.get_mut("_meta").and_then(|meta| meta.get_mut(SUBSCRIPTION_ID)), &self.subscriptions);
        }
    }
}

/// Several recorded sessions may have used one name: the last meaning holds.
fn learn(names: &mut Vec<(Json, Json)>, recorded: &Json, asked: &Json) {
    names.retain(|(known, _)| known != recorded);
    names.push((recorded.clone(), asked.clone()));
}

fn rename(name: Option<&mut Json>, names: &[(Json, Json)]) {
    if let Some(name) = name
        && let Some((_, asked)) = names.iter().find(|(recorded, _)| recorded == name)
    {
        *name = asked.clone();
    }
}
