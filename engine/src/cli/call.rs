//! `mcptest call`: one request from the shell.
//!
//! ```text
//! mcptest call tools/call echo message=hi -- node server.js
//! mcptest call echo message=hi count:=3 -- node server.js      a name without a slash is a tool
//! mcptest call resources/read demo://motd -- node server.js
//! ```

use super::client::{Seen, ServerArgs, converse};
use super::{BAD_INPUT, FAILED, OK, Talk, screen};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::{input, lifecycle};
use crate::source::Json;
use clap::Args;
use serde_json::{Map, json};

/// The methods whose first word is a name, and the parameter it becomes; the other words are arguments.
const NAMED: [(&str, &str); 5] = [
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("resources/subscribe", "uri"),
    ("resources/unsubscribe", "uri"),
];

#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// A method, such as tools/list; a word without a slash is the name of a tool
    #[arg(value_name = "METHOD|TOOL")]
    method: String,
    /// The tool's, prompt's or resource's name, then its arguments: KEY=TEXT, or KEY:=JSON for a typed value
    #[arg(value_name = "NAME|KEY=TEXT|KEY:=JSON")]
    words: Vec<String>,
    /// All arguments at once, as a JSON object; words are put over it
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Print the whole answer as it came, not only its result
    #[arg(long)]
    raw: bool,
    /// Answer what the server asks: forms with their defaults, no roots, a text for sampling
    #[arg(long)]
    answer: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn call(args: &CallArgs, talk: &Talk) -> u8 {
    let (method, params) = match request(args) {
        Ok(request) => request,
        Err(problem) => {
            screen::tell(&format!("error: {problem}\n"));
            return BAD_INPUT;
        }
    };
    let chosen = match args.server.choose(talk) {
        Ok(chosen) => chosen,
        Err(code) => return code,
    };
    let seen = Seen::new(talk.verbose, args.answer, chosen.redactor);
    converse(&chosen.server, seen, args.server.timeout, async |conversation| {
        let (answer, is_error) = conversation.ask(&method, params).await?;
        let malformed = |why: crate::mcp::message::Malformed| {
            Fault::new(Code::MalformedResponse, format!("the answer cannot be read: {why}"))
        };
        let body = answer.body().map_err(malformed)?;
        // A server may tell what it was told.
        let redactor = conversation.seen.redactor.clone();
        let printed = match (args.raw, is_error) {
            (true, _) => screen::print_data(&format!("{}\n", redactor.text(&answer.raw))),
            (false, false) => screen::print_data(&format!("{}\n", redactor.text(&format!("{body:#}")))),
            (false, true) => {
                let data = body.get("data").map_or(String::new(), |data| format!("\n{data:#}"));
                let told = format!("{}{data}", lifecycle::error_text(&body));
                screen::tell(&format!("error: the server answered: {}\n", redactor.text(&told)));
                OK
            }
        };
        let modern = conversation.connection.modern().is_some();
        let unfit = modern.then(|| input::unfit(&method, &answer)).flatten();
        if let Some(why) = &unfit {
            screen::tell(&format!("error: {}\n", redactor.text(why)));
        }
        let failed = is_error || unfit.is_some() || body.get("isError").is_some_and(|failed| failed == true);
        Ok(if failed { FAILED } else { printed })
    })
}

/// The method and its parameters.
fn request(args: &CallArgs) -> Result<(String, Option<Json>), String> {
    let mut words = args.words.iter();
    if args.method.starts_with("notifications/") {
        return Err(format!(
            "`{}` is a notification, and nothing answers it\nhint: a suite sends one with `notify: {{ method: {} }}`",
            args.method, args.method
        ));
    }
    let is_tool = !args.method.contains('/') && args.method != "ping";
    let (method, name) = if is_tool { ("tools/call", Some(&args.method)) } else { (args.method.as_str(), None) };
    let mut params = Map::new();
    let named = NAMED.iter().find(|(known, _)| *known == method);
    if let Some((_, key)) = named {
        let name = name.or_else(|| words.next()).ok_or_else(|| {
            format!(
                "`{method}` needs a name\nhint: for example `mcptest call {method} NAME KEY=TEXT -- node server.js`"
            )
        })?;
        params.insert((*key).to_owned(), json!(name));
    }
    let mut arguments = match &args.args {
        Some(text) => match serde_json::from_str(text) {
            Ok(Json::Object(members)) => members,
            Ok(_) => return Err("`--args` takes a JSON object".to_owned()),
            Err(error) => return Err(format!("`--args` is not JSON: {error}")),
        },
        None => Map::new(),
    };
    for word in words {
        let (key, value) = argument(word)?;
        arguments.insert(key, value);
    }
    match named {
        Some((_, "name")) => drop(params.insert("arguments".to_owned(), Json::Object(arguments))),
        _ => params.extend(arguments),
    }
    Ok((method.to_owned(), (!params.is_empty()).then_some(Json::Object(params))))
}

/// `KEY=TEXT` or `KEY:=JSON`.
fn argument(word: &str) -> Result<(String, Json), String> {
    let wrong =
        || format!("`{word}` is no argument\nhint: write KEY=TEXT, or KEY:=JSON for a number, a list or an object");
    let (key, text) = word.split_once('=').ok_or_else(wrong)?;
    match key.strip_suffix(':') {
        None if key.is_empty() => Err(wrong()),
        None => Ok((key.to_owned(), json!(text))),
        Some("") => Err(wrong()),
        Some(key) => match serde_json::from_str(text) {
            Ok(value) => Ok((key.to_owned(), value)),
            Err(error) => Err(format!("`{word}`: the value is not JSON: {error}\nhint: for text write `{key}={text}`")),
        },
    }
}
