//! The contract of easel plugins for Rust without crates: one file to copy or to name with `#[path]`.
//!
//! A plugin is a function from a `Call` to outputs:
//!
//! ```text
//! #[path = "easel.rs"]
//! mod easel;
//! use easel::{Call, Error, Value};
//!
//! fn greet(call: &Call) -> Result<Value, Error> {
//!     let city = call.argument("city").text();
//!     Ok(Value::object(vec![("text", Value::from(format!("Hello, {}", city)))]))
//! }
//!
//! #[no_mangle]
//! pub extern "C" fn easel_invoke() -> i32 { easel::invoke(greet) }
//! ```
//!
//! Build: `rustc --crate-type cdylib --target wasm32-unknown-unknown -O -C panic=abort -C strip=symbols`, then
//! `easel plugin pack`. JSON is read and written here, about as much of it as messages need; numbers keep their text.
#![allow(dead_code)]

#[link(wasm_import_module = "easel:host/v1")]
extern "C" {
    fn input_len() -> u32;
    fn input_read(p: *mut u8, n: u32) -> u32;
    fn output_write(p: *const u8, n: u32);
    fn error_write(p: *const u8, n: u32);
    fn log(level: u32, p: *const u8, n: u32);
    fn emit(kind: u32, p: *const u8, n: u32) -> u32;
    fn call(format: u32, p: *const u8, n: u32) -> i32;
    fn result_read(p: *mut u8, n: u32) -> u32;
}

use std::cell::RefCell;

/// What a plugin answers when it cannot do its work. `code` is one of the contract's, such as "invalid_argument".
pub struct Error {
    pub code: String,
    pub message: String,
    /// Another try may help; new says so of what is rate_limited or upstream.
    pub retryable: bool,
    /// What the error is about, an object, or null; retry_after_ms with rate_limited.
    pub data: Value,
}

impl Error {
    pub fn new(code: &str, message: impl Into<String>) -> Error {
        let retryable = code == "rate_limited" || code == "upstream";
        Error { code: code.to_string(), message: message.into(), retryable, data: Value::Null }
    }
    fn json(self) -> String {
        let mut members = vec![("code", Value::from(self.code)), ("message", Value::from(self.message)), ("retryable", Value::Bool(self.retryable))];
        if !self.data.is_null() {
            members.push(("data", self.data));
        }
        Value::object(members).json()
    }
    /// The caller gave up: return it, soon.
    pub fn cancelled() -> Error {
        Error::new("internal", "cancelled")
    }
}

/// One call of the plugin.
pub struct Call {
    message: Value,
    artifacts: RefCell<Vec<Value>>,
    usage: RefCell<Value>,
    next: RefCell<String>,
}

impl Call {
    /// A setting of the node; null when it is not set.
    pub fn param(&self, name: &str) -> &Value {
        self.message.get("params").get(name)
    }
    /// What a model or a node gave; null when it gave nothing.
    pub fn argument(&self, name: &str) -> &Value {
        self.message.get("arguments").get(name)
    }
    /// All settings of the node, an object.
    pub fn params(&self) -> &Value {
        self.message.get("params")
    }
    /// All arguments, an object; null when the call has none.
    pub fn arguments(&self) -> &Value {
        self.message.get("arguments")
    }
    /// About the call: id, run, node, attempt, deadline_ms, locale, preview, secret_mark.
    pub fn info(&self, name: &str) -> &Value {
        self.message.get("call").get(name)
    }
    /// The placeholder of a secret for a header value, the query of a URL or a body, with the mark of this call. The
    /// host puts the value in; text from elsewhere that looks like one names no secret.
    pub fn secret(&self, name: &str) -> String {
        match self.info("secret_mark").text() {
            "" => format!("{{{{secret:{}}}}}", name),
            mark => format!("{{{{secret:{}:{}}}}}", name, mark),
        }
    }
    /// Says a piece of the answer.
    pub fn emit(&self, text: &str) -> Result<(), Error> {
        self.send(1, text)
    }
    /// Says a piece of the reasoning.
    pub fn think(&self, text: &str) -> Result<(), Error> {
        self.send(2, text)
    }
    /// Says a piece of one output.
    pub fn partial(&self, output: &str, delta: &str) -> Result<(), Error> {
        let data = Value::object(vec![("key", Value::from(output.to_string())), ("delta", Value::from(delta.to_string()))]);
        self.send(4, &data.json())
    }
    /// Adds a file to the answer.
    pub fn attach(&self, name: &str, mime: &str, reference: &str) {
        let text = |s: &str| Value::from(s.to_string());
        self.artifacts.borrow_mut().push(Value::object(vec![("name", text(name)), ("mime", text(mime)), ("ref", text(reference))]));
    }
    /// Chooses the branch by which the run continues, of those that the manifest names.
    pub fn next(&self, branch: &str) {
        *self.next.borrow_mut() = branch.to_string();
    }
    /// Counts what the plugin used on its own account, not what it asked the host's model: {"total_tokens": 12}.
    pub fn used(&self, usage: Value) {
        *self.usage.borrow_mut() = usage;
    }
    /// Tells how far the work is, in percent.
    pub fn progress(&self, percent: f64, note: &str) -> Result<(), Error> {
        let data = Value::object(vec![("pct", Value::from(percent)), ("note", Value::from(note.to_string()))]);
        self.send(3, &data.json())
    }
    /// A file of the run by its id, with the permission files: {"name", "mime", "size"} and its bytes, at most 10 MiB.
    pub fn read_file(&self, id: &str) -> Result<(Value, Vec<u8>), Error> {
        let ok = self.ask("file.read", Value::object(vec![("id", Value::from(id.to_string()))]))?;
        let bytes = bytes_of(&ok);
        Ok((ok, bytes))
    }
    /// A file of the run whose bytes are read piece by piece.
    pub fn open_file(&self, id: &str) -> Result<Body, Error> {
        let args = vec![("id", Value::from(id.to_string())), ("stream", Value::Bool(true))];
        let ok = self.ask("file.read", Value::object(args))?;
        Ok(Body { call: self, status: 0, stream: ok.get("stream").clone(), headers: ok, rest: None })
    }
    /// Stores a file, which becomes an attachment of the node, and gives its id. One has at most 3 MB.
    pub fn put_file(&self, name: &str, mime: &str, data: &[u8]) -> Result<String, Error> {
        let text = |s: &str| Value::from(s.to_string());
        let args = vec![("name", text(name)), ("mime", text(mime)), ("body_base64", Value::from(encode(data)))];
        Ok(self.ask("file.put", Value::object(args))?.get("id").text().to_string())
    }
    fn send(&self, kind: u32, data: &str) -> Result<(), Error> {
        match unsafe { emit(kind, data.as_ptr(), data.len() as u32) } {
            0 => Ok(()),
            _ => Err(Error::cancelled()),
        }
    }
    /// Writes a line to the host's log: 0 trace, 1 debug, 2 info, 3 warn, 4 error.
    pub fn log(&self, level: u32, text: &str) {
        unsafe { log(level, text.as_ptr(), text.len() as u32) }
    }
    /// Asks the host: `ask("http.fetch", args)`. What is denied is an error with the code "denied".
    pub fn ask(&self, op: &str, args: Value) -> Result<Value, Error> {
        let request = Value::object(vec![("op", Value::from(op.to_string())), ("args", args)]).json();
        let n = unsafe { call(0, request.as_ptr(), request.len() as u32) };
        if n < 0 {
            return Err(Error::cancelled());
        }
        let mut answer = vec![0u8; n as usize];
        let got = unsafe { result_read(answer.as_mut_ptr(), n as u32) };
        answer.truncate(got as usize);
        let answer = Value::parse(&String::from_utf8_lossy(&answer)).map_err(|e| Error::new("internal", e))?;
        let failed = answer.get("error");
        if !failed.is_null() {
            return Err(Error {
                code: failed.get("code").text().to_string(),
                message: failed.get("message").text().to_string(),
                retryable: failed.get("retryable") == &Value::Bool(true),
                data: failed.get("data").clone(),
            });
        }
        Ok(answer.get("ok").clone())
    }
    /// Sends the request of "http.fetch" and gives its body piece by piece, so that it may be larger than the memory.
    pub fn open(&self, request: Value) -> Result<Body, Error> {
        let mut members = match request {
            Value::Object(m) => m,
            _ => Vec::new(),
        };
        members.push(("stream".to_string(), Value::Bool(true)));
        let ok = self.ask("http.fetch", Value::Object(members))?;
        let stream = ok.get("stream").clone();
        let rest = if stream.is_null() { Some(bytes_of(&ok)) } else { None }; // an older host gives all of it
        Ok(Body { call: self, status: ok.get("status").number().unwrap_or(0.0) as u16, headers: ok.get("headers").clone(), stream, rest })
    }
}

/// A response whose body is read piece by piece. It belongs to its call; one that is dropped leaves the rest unread.
pub struct Body<'a> {
    call: &'a Call,
    pub status: u16,
    pub headers: Value,
    stream: Value, // null when there is nothing more to ask for
    rest: Option<Vec<u8>>,
}

impl<'a> Body<'a> {
    /// The next piece, at most `max` bytes; none at the end.
    pub fn read(&mut self, max: u32) -> Result<Option<Vec<u8>>, Error> {
        if self.stream.is_null() {
            return Ok(self.rest.take().filter(|b| !b.is_empty()));
        }
        let args = vec![("stream", self.stream.clone()), ("max", Value::from(max as f64))];
        let answer = self.call.ask("http.read", Value::object(args));
        if !matches!(&answer, Ok(ok) if ok.get("done") != &Value::Bool(true)) {
            self.stream = Value::Null;
        }
        Ok(Some(bytes_of(&answer?)).filter(|b| !b.is_empty()))
    }
}

impl<'a> Drop for Body<'a> {
    fn drop(&mut self) {
        if !self.stream.is_null() {
            // Nobody is left to hear that closing failed.
            let _ = self.call.ask("http.close", Value::object(vec![("stream", self.stream.clone())]));
        }
    }
}

/// The bytes of what "http.fetch" and "http.read" answer: body as UTF-8, or body_base64.
pub fn bytes_of(ok: &Value) -> Vec<u8> {
    match ok.get("body_base64") {
        Value::Text(encoded) => decode(encoded),
        _ => ok.get("body").text().as_bytes().to_vec(),
    }
}

/// Writes base64.
fn encode(data: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity((data.len() + 2) / 3 * 4);
    for three in data.chunks(3) {
        let byte = |i: usize| *three.get(i).unwrap_or(&0) as usize;
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            out.push(if i <= three.len() { DIGITS[bits >> (18 - 6 * i) & 63] as char } else { '=' });
        }
    }
    out
}

/// Reads base64; what is no digit of it is passed over.
fn decode(text: &str) -> Vec<u8> {
    let (mut out, mut bits, mut have) = (Vec::with_capacity(text.len() * 3 / 4), 0u32, 0);
    for c in text.bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | digit as u32;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    out
}

/// The message of the host.
fn received() -> Result<Call, Error> {
    let mut message = vec![0u8; unsafe { input_len() } as usize];
    let n = unsafe { input_read(message.as_mut_ptr(), message.len() as u32) };
    message.truncate(n as usize);
    match Value::parse(&String::from_utf8_lossy(&message)) {
        Ok(v @ Value::Object(_)) => Ok(Call { message: v, artifacts: RefCell::new(Vec::new()), usage: RefCell::new(Value::Null), next: RefCell::new(String::new()) }),
        Ok(_) => Err(Error::new("invalid_argument", "the input is no JSON object")),
        Err(e) => Err(Error::new("invalid_argument", e)),
    }
}

fn failed(e: Error) -> i32 {
    let text = e.json();
    unsafe { error_write(text.as_ptr(), text.len() as u32) };
    1
}

/// Makes the message and the place of a panic the error of the call.
fn report_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            unsafe { error_write(text.as_ptr(), text.len() as u32) };
        }))
    });
}

/// Runs a plugin's function on the message of the host.
pub fn invoke(run: fn(&Call) -> Result<Value, Error>) -> i32 {
    report_panics();
    let call = match received() {
        Ok(call) => call,
        Err(e) => return failed(e),
    };
    match run(&call) {
        Ok(outputs) => {
            let mut members = vec![("outputs", outputs)];
            let artifacts = call.artifacts.take();
            if !artifacts.is_empty() {
                members.push(("artifacts", Value::List(artifacts)));
            }
            let usage = call.usage.replace(Value::Null);
            if !usage.is_null() {
                members.push(("usage", usage));
            }
            let next = call.next.take();
            if !next.is_empty() {
                members.push(("next", Value::from(next)));
            }
            let text = Value::object(members).json();
            unsafe { output_write(text.as_ptr(), text.len() as u32) };
            0
        }
        Err(e) => failed(e),
    }
}

/// Runs a test of params, for `pub extern "C" fn easel_check() -> i32 { easel::check(f) }`.
pub fn check(test: fn(&Call) -> Result<(), Error>) -> i32 {
    report_panics();
    match received().and_then(|call| test(&call)) {
        Ok(()) => 0,
        Err(e) => failed(e),
    }
}

/// A JSON value. Members keep their order.
#[derive(Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

static NULL: Value = Value::Null;

impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::Text(s)
    }
}

impl From<f64> for Value {
    fn from(f: f64) -> Value {
        if f.is_finite() {
            Value::Number(f.to_string())
        } else {
            Value::Null
        }
    }
}

impl Value {
    pub fn object(members: Vec<(&str, Value)>) -> Value {
        Value::Object(members.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
    }
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
    /// A member, null when there is none.
    pub fn get(&self, name: &str) -> &Value {
        match self {
            Value::Object(m) => m.iter().find(|(k, _)| k == name).map(|(_, v)| v).unwrap_or(&NULL),
            _ => &NULL,
        }
    }
    /// The text of a text, "" otherwise.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(s) => s,
            _ => "",
        }
    }
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(s) => s.parse().ok(),
            _ => None,
        }
    }
    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(l) => l,
            _ => &[],
        }
    }
    /// How the value reads: texts as they are, everything else as JSON.
    pub fn plain(&self) -> String {
        match self {
            Value::Null => String::new(),
            Value::Text(s) => s.clone(),
            v => v.json(),
        }
    }
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
    fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Number(n) => out.push_str(n),
            Value::Text(s) => quote(s, out),
            Value::List(l) => {
                out.push('[');
                for (i, v) in l.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    v.write(out);
                }
                out.push(']');
            }
            Value::Object(m) => {
                out.push('{');
                for (i, (k, v)) in m.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    quote(k, out);
                    out.push(':');
                    v.write(out);
                }
                out.push('}');
            }
        }
    }
    pub fn parse(text: &str) -> Result<Value, String> {
        let mut p = Parser { s: text.as_bytes(), i: 0 };
        let v = p.value(0)?;
        p.space();
        if p.i < p.s.len() {
            return Err(p.wrong("text after the value"));
        }
        Ok(v)
    }
}

fn quote(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads JSON by recursive descent, at most 200 deep.
struct Parser<'a> {
    s: &'a [u8],
    i: usize,
}

impl<'a> Parser<'a> {
    fn wrong(&self, what: &str) -> String {
        format!("JSON at byte {}: {}", self.i, what)
    }
    fn space(&mut self) {
        while self.i < self.s.len() && matches!(self.s[self.i], b' ' | b'\n' | b'\r' | b'\t') {
            self.i += 1;
        }
    }
    fn take(&mut self, c: u8) -> bool {
        self.space();
        let there = self.s.get(self.i) == Some(&c);
        if there {
            self.i += 1;
        }
        there
    }
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > 200 {
            return Err(self.wrong("nested too deep"));
        }
        self.space();
        match self.s.get(self.i) {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(c) if *c == b'-' || c.is_ascii_digit() => self.number(),
            _ => Err(self.wrong("no value")),
        }
    }
    fn word(&mut self, w: &str, v: Value) -> Result<Value, String> {
        if !self.s[self.i..].starts_with(w.as_bytes()) {
            return Err(self.wrong("no value"));
        }
        self.i += w.len();
        Ok(v)
    }
    fn number(&mut self) -> Result<Value, String> {
        let from = self.i;
        while self.i < self.s.len() && matches!(self.s[self.i], b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
            self.i += 1;
        }
        let text = String::from_utf8_lossy(&self.s[from..self.i]).into_owned();
        text.parse::<f64>().map_err(|_| self.wrong("no number"))?;
        Ok(Value::Number(text))
    }
    fn list(&mut self, depth: usize) -> Result<Value, String> {
        self.i += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return Err(self.wrong("want , or ]"));
            }
        }
    }
    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.i += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            if self.s.get(self.i) != Some(&b'"') {
                return Err(self.wrong("want a name"));
            }
            let name = self.string()?;
            if !self.take(b':') {
                return Err(self.wrong("want :"));
            }
            members.push((name, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.take(b',') {
                return Err(self.wrong("want , or }"));
            }
        }
    }
    fn string(&mut self) -> Result<String, String> {
        self.i += 1;
        let mut out = Vec::new();
        loop {
            let c = *self.s.get(self.i).ok_or_else(|| self.wrong("text without end"))?;
            self.i += 1;
            match c {
                b'"' => return Ok(String::from_utf8_lossy(&out).into_owned()),
                b'\\' => self.escape(&mut out)?,
                c => out.push(c),
            }
        }
    }
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let c = *self.s.get(self.i).ok_or_else(|| self.wrong("text without end"))?;
        self.i += 1;
        out.push(match c {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                let mut code = self.hex()?;
                if (0xD800..0xDC00).contains(&code) && self.s[self.i..].starts_with(b"\\u") {
                    self.i += 2;
                    code = 0x10000 + ((code - 0xD800) << 10) + (self.hex()?.wrapping_sub(0xDC00) & 0x3FF);
                }
                let mut buffer = [0u8; 4];
                out.extend_from_slice(char::from_u32(code).unwrap_or('\u{FFFD}').encode_utf8(&mut buffer).as_bytes());
                return Ok(());
            }
            c => c,
        });
        Ok(())
    }
    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.s.get(self.i..self.i + 4).ok_or_else(|| self.wrong("text without end"))?;
        let text = std::str::from_utf8(digits).map_err(|_| self.wrong("no hex digits"))?;
        let code = u32::from_str_radix(text, 16).map_err(|_| self.wrong("no hex digits"))?;
        self.i += 4;
        Ok(code)
    }
}

/// Keys and values, components and triggers.
impl Call {
    /// What `store` kept under a key, none when there is nothing; with the permission kv.
    pub fn load(&self, key: &str) -> Result<Option<String>, Error> {
        let ok = self.ask("kv.get", Value::object(vec![("key", Value::from(key.to_string()))]))?;
        let found = ok.get("found") == &Value::Bool(true);
        Ok(if found { Some(ok.get("value").text().to_string()) } else { None })
    }
    /// Keeps a text under a key, with the permission kv.
    pub fn store(&self, key: &str, value: &str) -> Result<(), Error> {
        let args = vec![("key", Value::from(key.to_string())), ("value", Value::from(value.to_string()))];
        self.ask("kv.set", Value::object(args)).map(|_| ())
    }
    /// The component that is called, of a file with several; "" for the only one.
    pub fn component(&self) -> &str {
        self.info("component").text()
    }
    /// The request that a webhook was called with.
    pub fn received(&self) -> Received {
        Received { request: self.argument("request") }
    }
}

/// The outputs of a trigger: a plugin whose manifest says "trigger": "poll" or "webhook". A schedule of a canvas calls
/// it, at its times or with requests, and a run of the canvas begins for each item. What it keeps with `Call::store` is
/// written after the runs of its items are: an item that is given again, because the host died in between, begins no
/// second run.
pub struct Items {
    items: Vec<Value>,
    response: Value,
}

impl Items {
    pub fn new() -> Items {
        Items { items: Vec::new(), response: Value::Null }
    }
    /// Adds an event. The same id begins one run only; a webhook may leave it empty. `inputs`, an object or null, are
    /// those of Begin.
    pub fn add(&mut self, id: &str, query: &str, inputs: Value) {
        let mut members = Vec::new();
        if !id.is_empty() {
            members.push(("id", Value::from(id.to_string())));
        }
        members.push(("query", Value::from(query.to_string())));
        if !inputs.is_null() {
            members.push(("inputs", inputs));
        }
        self.items.push(Value::object(members));
    }
    /// Answers the request of a webhook, which otherwise gets 200 and an empty body.
    pub fn reply(&mut self, status: u16, content_type: &str, body: &str) {
        let text = |s: &str| Value::from(s.to_string());
        let members = vec![("status", Value::from(status as f64)), ("content_type", text(content_type)), ("body", text(body))];
        self.response = Value::object(members);
    }
    pub fn outputs(self) -> Value {
        let mut members = vec![("items", Value::List(self.items))];
        if !self.response.is_null() {
            members.push(("response", self.response));
        }
        Value::object(members)
    }
}

/// The request that a webhook was called with. A proof that does not fit is the error "unauthorized".
pub struct Received<'a> {
    request: &'a Value,
}

impl<'a> Received<'a> {
    pub fn method(&self) -> &str {
        self.request.get("method").text()
    }
    /// Path and query, as they were sent.
    pub fn url(&self) -> &str {
        self.request.get("url").text()
    }
    /// The first value of a parameter of the query.
    pub fn query(&self, name: &str) -> &str {
        self.request.get("query").get(name).text()
    }
    /// A header by its lower-case name; several values are joined with a comma.
    pub fn header(&self, name: &str) -> &str {
        self.request.get("headers").get(name).text()
    }
    /// The body as it was sent, for signatures.
    pub fn bytes(&self) -> Vec<u8> {
        bytes_of(self.request)
    }
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}
