//! Playing: a recorded conversation answers in the place of a server.

use super::matching::{Ignored, differences, nearest, told};
use super::names::{self, Names};
use super::{Carried, Cassette, Ended, Exchange, Outgoing, Redact, Said, TMP, replace, test_label};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::message::{Line, parse_line};
use crate::mcp::transport::Incoming;
use crate::mcp::transport::http::{outcome, sse};
use crate::source::Json;
use serde_json::{Map, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What every connection of a run plays from.
#[derive(Clone)]
pub struct Deck(Arc<Shared>);

struct Shared {
    path: PathBuf,
    cassette: Cassette,
    ignored: Ignored,
    redact: OnceLock<Redact>,
    /// Where each request is recorded, in order: of everyone, and of each test.
    places: HashMap<String, Vec<usize>>,
    /// Whether requests of different servers are told apart.
    several: bool,
    drawn: Mutex<Drawn>,
}

/// What was played so far.
#[derive(Default)]
struct Drawn {
    /// How often each test asked each request.
    turns: HashMap<String, usize>,
    /// The exchanges that were played.
    played: HashSet<usize>,
}

impl std::fmt::Debug for Deck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Deck({})", self.0.path.display())
    }
}

impl Deck {
    /// A cassette to play from.
    pub fn new(path: &Path, cassette: Cassette) -> Deck {
        let ignored = Ignored::new(&cassette);
        let several = cassette.exchanges.windows(2).any(|pair| pair[0].server != pair[1].server);
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, exchange) in cassette.exchanges.iter().enumerate() {
            let key = ignored.key(&exchange.request);
            let server = several.then_some(exchange.server.as_str());
            places.entry(place_of(&key, server, None)).or_default().push(at);
            if exchange.test.is_some() {
                places.entry(place_of(&key, server, exchange.test.as_deref())).or_default().push(at);
            }
        }
        let drawn = Mutex::default();
        let (path, redact) = (path.to_owned(), OnceLock::new());
        Deck(Arc::new(Shared { path, cassette, ignored, redact, places, several, drawn }))
    }

    /// Compares requests without secrets, as they were recorded; the first call counts.
    pub fn hide(&self, redact: Redact) {
        let _ = self.0.redact.set(redact);
    }

    /// A player for one connection; `tmp` is the folder behind `${tmp}`.
    pub fn player(&self, server: &str, tmp: &str) -> Player {
        Player {
            deck: self.clone(),
            server: server.to_owned(),
            tmp: tmp.to_owned(),
            test: None,
            ready: VecDeque::new(),
            to_come: VecDeque::new(),
            awaits: None,
            names: Names::default(),
            last_ticket: 0,
            in_session: false,
            told: Vec::new(),
        }
    }

    /// The next recording of a request; the last one stays. What the same test asked comes first, so that it does not
    /// matter which other tests run, nor in which order, nor at the same time.
    fn draw(&self, server: &str, test: Option<&str>, key: &Json) -> Option<Exchange> {
        let Shared { cassette, places, several, drawn, .. } = &*self.0;
        let server_asked = several.then_some(server);
        let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let own = test.map(|test| place_of(key, server_asked, Some(test)));
        if let Some((place, found)) = own.and_then(|place| places.get(&place).map(|found| (place, found))) {
            let turn = drawn.turns.entry(place).or_insert(0);
            let at = found.get(*turn).or(found.last()).copied().unwrap_or_default();
            *turn += 1;
            drawn.played.insert(at);
            return Some(cassette.exchanges[at].clone());
        }
        let found = places.get(&place_of(key, server_asked, None))?;
        let fresh = found.iter().find(|at| !drawn.played.contains(*at));
        let at = fresh.or(found.last()).copied().unwrap_or_default();
        drawn.played.insert(at);
        Some(cassette.exchanges[at].clone())
    }

    fn miss(&self, key: &Json) -> Fault {
        let Shared { path, cassette, ignored, .. } = &*self.0;
        let recorded: Vec<(Json, &Exchange)> =
            cassette.exchanges.iter().map(|exchange| (ignored.key(&exchange.request), exchange)).collect();
        let what = key["method"].as_str().map_or_else(|| key.to_string(), |method| format!("`{method}`"));
        let message = format!("`{}` has no recording of this {what}", path.display());
        let fault = Fault::new(Code::CassetteMiss, message);
        let fault = match nearest(key, &recorded) {
            Some((_, found)) => fault.hint(format!("the nearest one differs: {}", told(&found))),
            None => fault.hint(format!("nothing like it was recorded; it was asked: {key}")),
        };
        fault.hint("record it anew with `--record`, or name what may differ in the cassette's `ignore`")
    }
}

fn place_of(key: &Json, server: Option<&str>, test: Option<&str>) -> String {
    format!("{}\n{}\n{key}", server.unwrap_or_default(), test.unwrap_or_default())
}

/// What a recorded exchange still has to say.
enum Next {
    Head(u64, Arc<outcome::Head>),
    Said(Said),
    Response(Json),
    Over(Box<outcome::Ended>),
    Exit(Ended),
}

/// Plays one connection.
pub struct Player {
    deck: Deck,
    server: String,
    tmp: String,
    /// The test that asks.
    test: Option<String>,
    ready: VecDeque<Incoming>,
    to_come: VecDeque<Next>,
    /// The request of the server that the client has to answer first, and what it answered then.
    awaits: Option<(Json, String, Json)>,
    /// What the names of the recorded sessions mean in this one.
    names: Names,
    /// Of what was recorded over HTTP.
    last_ticket: u64,
    /// The server gave the session an id.
    pub in_session: bool,
    /// The messages since the head of an answer over HTTP.
    told: Vec<String>,
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Player({:?}, {} ready)", self.deck, self.ready.len())
    }
}

impl Player {
    /// What is asked from here on, a test asks.
    pub fn concerns(&mut self, file: &str, test: &str) {
        self.test = Some(test_label(&self.deck.0.path, file, test));
    }

    /// Takes a line as the server would; the ticket of what was recorded over HTTP, or else 0.
    pub fn send(&mut self, line: &[u8]) -> u64 {
        let before = self.last_ticket;
        match Outgoing::read(line) {
            Outgoing::Request(id, request) => self.ask(id, request),
            Outgoing::Answer(message) => self.answered(message),
            Outgoing::Notification(message) => self.notified(message),
        }
        self.play();
        if self.last_ticket > before { self.last_ticket } else { 0 }
    }

    /// The next thing that the recording says.
    pub fn heard(&mut self) -> Option<Incoming> {
        self.ready.pop_front()
    }

    fn ask(&mut self, id: Json, mut request: Json) {
        self.normalise(&mut request);
        let key = self.deck.0.ignored.key(&request);
        let Some(exchange) = self.deck.draw(&self.server, self.test.as_deref(), &key) else {
            match request["method"] == "ping" {
                // The engine's own question whether anybody is there; a recording by an SDK may lack it.
                true => self.to_come.push_back(Next::Response(with_id(id, json!({ "result": {} })))),
                false => self.ready.push_back(Incoming::Failed(Box::new(self.deck.miss(&key)))),
            }
            return;
        };
        self.learn_names(&id, &request, &exchange);
        let Exchange { during, response, http, exit, .. } = exchange;
        let over = http.map(|http| self.begin(http, response.is_some(), request["method"] == "initialize"));
        self.to_come.extend(during.into_iter().map(Next::Said));
        self.to_come.extend(response.map(|response| Next::Response(with_id(id, response))));
        self.to_come.extend(over);
        self.to_come.extend(exit.map(Next::Exit));
    }

    /// A notification has an answer over HTTP only, and needs none.
    fn notified(&mut self, mut message: Json) {
        let mut request = Outgoing::kept(&mut message);
        self.normalise(&mut request);
        let key = self.deck.0.ignored.key(&request);
        let http = self.deck.draw(&self.server, self.test.as_deref(), &key).and_then(|exchange| exchange.http);
        let over = http.map(|http| self.begin(http, false, false));
        self.to_come.extend(over);
    }

    /// Begins an answer over HTTP with its head; what is to come after all that it held.
    fn begin(&mut self, http: Carried, answered: bool, may_name_session: bool) -> Next {
        self.last_ticket += 1;
        let (head, mut ended) = http.replaced(TMP, &self.tmp).play(self.last_ticket, answered);
        self.in_session |=
            may_name_session && head.as_ref().is_some_and(|head| head.header("mcp-session-id").is_some());
        ended.in_session = self.in_session;
        self.to_come.extend(head.map(|head| Next::Head(self.last_ticket, head)));
        Next::Over(Box::new(ended))
    }

    fn learn_names(&mut self, id: &Json, request: &Json, exchange: &Exchange) {
        if let (Some(recorded), Some(asked)) = (names::token(&exchange.request), names::token(request)) {
            self.names.token(recorded, asked);
        }
        if request["method"] == "subscriptions/listen" {
            let mut told = exchange.during.iter().filter_map(|said| said.notification.as_ref());
            if let Some(recorded) = told.find_map(names::acknowledged) {
                self.names.subscription(recorded, id);
            }
        }
    }

    fn answered(&mut self, mut message: Json) {
        let id = message["id"].take();
        let Some((_, method, expected)) = self.awaits.take_if(|(awaited, ..)| *awaited == id) else { return };
        let answer = ["result", "error"].into_iter().find_map(|key| Some(json!({ key: message.get_mut(key)?.take() })));
        let mut answer = answer.unwrap_or_default();
        self.normalise(&mut answer);
        let found = differences(&expected, &answer);
        if !found.is_empty() {
            let message = format!("the answer to the server's `{method}` is not the one that was recorded");
            let fault =
                Fault::new(Code::CassetteMiss, message).hint(told(&found)).hint("record it anew with `--record`");
            self.ready.push_back(Incoming::Failed(Box::new(fault)));
        }
    }

    fn normalise(&self, value: &mut Json) {
        replace(value, &self.tmp, TMP);
        if let Some(redact) = self.deck.0.redact.get() {
            redact(value, &[]);
        }
    }

    /// Says what can be said before the client has to answer something.
    fn play(&mut self) {
        while self.awaits.is_none()
            && let Some(next) = self.to_come.pop_front()
        {
            match next {
                Next::Head(ticket, head) => {
                    self.told.clear();
                    self.ready.push_back(Incoming::Head { ticket, head });
                }
                Next::Over(ended) => self.over(ended),
                Next::Response(response) => self.message(response),
                Next::Exit(exit) => self.ready.push_back(Incoming::Exited(exit.into())),
                Next::Said(said) => self.say(said),
            }
        }
    }

    /// An answer that was kept as messages is made of them again.
    fn over(&mut self, mut ended: Box<outcome::Ended>) {
        let told = std::mem::take(&mut self.told);
        let kept = ended.body.is_some() || !ended.events.is_empty() || !ended.answered;
        if !kept && ended.head.as_ref().is_some_and(|head| head.media_type() == "text/event-stream") {
            let event = |data| sse::Item::Event(sse::Event { data: Some(data), ..sse::Event::default() });
            ended.events = told.into_iter().map(event).collect();
        } else if !kept {
            ended.body = told.into_iter().next_back();
        }
        self.ready.push_back(Incoming::Ended(ended));
    }

    fn say(&mut self, said: Said) {
        let Said { notification, request, answer, stderr, stdout } = said;
        if let Some(notification) = notification {
            self.message(envelope(notification));
        }
        if let Some(request) = request {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            self.awaits = answer.map(|answer| (request["id"].clone(), method, answer));
            self.message(envelope(request));
        }
        if let Some(text) = stderr {
            self.ready.push_back(Incoming::Stderr(text.replace(TMP, &self.tmp)));
        }
        if let Some(line) = stdout {
            self.line(&line.replace(TMP, &self.tmp));
        }
    }

    fn message(&mut self, mut message: Json) {
        replace(&mut message, TMP, &self.tmp);
        self.names.put(&mut message);
        let text = message.to_string();
        self.line(&text);
        if self.last_ticket > 0 {
            self.told.push(text);
        }
    }

    fn line(&mut self, line: &str) {
        match parse_line(line.as_bytes()) {
            Line::Message(message) => self.ready.push_back(Incoming::Message(message)),
            Line::Batch(messages) => self.ready.extend(messages.into_iter().map(Incoming::Message)),
            Line::Noise(text) => self.ready.push_back(Incoming::Noise(text)),
        }
    }
}

fn with_id(id: Json, response: Json) -> Json {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.insert("id".into(), id);
    message.extend(response.as_object().cloned().unwrap_or_default());
    Json::Object(message)
}

fn envelope(body: Json) -> Json {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.extend(body.as_object().cloned().unwrap_or_default());
    Json::Object(message)
}
