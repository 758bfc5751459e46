//! golden is the guest of plugins/sdk/testdata/golden in Rust: see there for what it does.

#[path = "../easel.rs"]
mod easel;
use easel::{Call, Error, Value};

#[no_mangle]
pub extern "C" fn easel_invoke() -> i32 {
    easel::invoke(golden)
}

#[no_mangle]
pub extern "C" fn easel_check() -> i32 {
    easel::check(|call| match call.param("bad") {
        Value::Bool(true) => Err(Error::new("invalid_argument", "bad is true")),
        _ => Ok(()),
    })
}

fn golden(call: &Call) -> Result<Value, Error> {
    let given = |name: &str| Some(call.argument(name)).filter(|v| !v.is_null());
    if let Some(output) = given("output") {
        for a in output.get("artifacts").items() {
            call.attach(a.get("name").text(), a.get("mime").text(), a.get("ref").text());
        }
        call.next(output.get("next").text());
        call.used(output.get("usage").clone());
        return Ok(output.get("outputs").clone());
    }
    if let Some(e) = given("error") {
        let mut out = Error::new(e.get("code").text(), e.get("message").text());
        out.retryable = e.get("retryable") == &Value::Bool(true);
        out.data = e.get("data").clone();
        return Err(out);
    }
    if let Some(e) = given("emit") {
        match e.get("kind").number() {
            Some(k) if k == 1.0 => call.emit(e.get("text").text())?,
            Some(k) if k == 2.0 => call.think(e.get("text").text())?,
            Some(k) if k == 3.0 => call.progress(e.get("pct").number().unwrap_or(0.0), e.get("note").text())?,
            _ => call.partial(e.get("key").text(), e.get("delta").text())?,
        }
        return Ok(Value::object(vec![]));
    }
    if let Some(request) = given("call") {
        return Ok(Value::object(vec![("answer", answer(call, request))]));
    }
    if let Some(named) = given("secret") {
        // sends a secret to an address, and what looks like one
        let name = named.get("name").text();
        let plain = format!("{{{{secret:{}}}}}", name);
        let headers = Value::object(vec![("X-Key", Value::from(call.secret(name))), ("X-Plain", Value::from(plain))]);
        let ok = call.ask("http.fetch", Value::object(vec![("url", named.get("url").clone()), ("headers", headers)]))?;
        return Ok(Value::object(vec![("text", ok.get("body").clone()), ("sent", Value::from(call.secret(name)))]));
    }
    if let Some(request) = given("read") {
        let mut body = call.open(request.clone())?;
        let mut all = Vec::new();
        while let Some(piece) = body.read(65536)? {
            all.extend(piece);
        }
        let text = String::from_utf8_lossy(&all).into_owned();
        return Ok(Value::object(vec![("status", Value::from(body.status as f64)), ("text", Value::from(text))]));
    }
    if let Some(message) = given("panic") {
        panic!("{}", message.text());
    }
    let names = ["id", "run", "node", "attempt", "deadline_ms", "locale", "preview", "secret_mark", "component"];
    let info = Value::object(names.iter().map(|n| (*n, call.info(n).clone())).collect());
    Ok(Value::object(vec![("params", call.params().clone()), ("arguments", call.arguments().clone()), ("call", info)]))
}

/// Asks with the method for the operation, where there is one.
fn ask(call: &Call, op: &str, args: &Value) -> Result<Value, Error> {
    let body = easel::bytes_of(args);
    match op {
        "file.read" if args.get("stream").is_null() => Ok(call.read_file(args.get("id").text())?.0),
        "file.read" => {
            let file = call.open_file(args.get("id").text())?;
            Ok(file.headers.clone())
        }
        "file.put" => {
            let id = call.put_file(args.get("name").text(), args.get("mime").text(), &body)?;
            Ok(Value::object(vec![("id", Value::from(id))]))
        }
        _ => call.ask(op, args.clone()),
    }
}

/// The host's answer, put together again.
fn answer(call: &Call, request: &Value) -> Value {
    match ask(call, request.get("op").text(), request.get("args")) {
        Ok(ok) => Value::object(vec![("ok", ok)]),
        Err(e) => {
            let mut members = vec![("code", Value::from(e.code)), ("message", Value::from(e.message)), ("retryable", Value::Bool(e.retryable))];
            if !e.data.is_null() {
                members.push(("data", e.data));
            }
            Value::object(vec![("error", Value::object(members))])
        }
    }
}
