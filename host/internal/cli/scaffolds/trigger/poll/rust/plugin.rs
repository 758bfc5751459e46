//! Begins a run for each new entry of a feed, which lists the newest first.
mod easel;
use easel::{Call, Error, Items, Value};

#[no_mangle]
pub extern "C" fn easel_invoke() -> i32 {
    easel::invoke(poll)
}

fn poll(call: &Call) -> Result<Value, Error> {
    let last = call.load("last")?.unwrap_or_default();
    let answer = call.ask("http.fetch", Value::object(vec![("url", call.param("url").clone())]))?;
    let status = answer.get("status").number().unwrap_or(0.0);
    if status != 200.0 {
        return Err(Error::new("upstream", format!("the feed answered {}", status)));
    }
    let feed = Value::parse(answer.get("body").text()).map_err(|e| Error::new("upstream", e))?;
    let fresh: Vec<&Value> = feed.items().iter().take_while(|e| e.get("id").text() != last).take(100).collect();
    if let Some(newest) = fresh.first() {
        call.store("last", newest.get("id").text())?;
    }
    let mut out = Items::new();
    for entry in fresh.iter().rev() {
        out.add(entry.get("id").text(), entry.get("title").text(), Value::Null);
    }
    Ok(out.outputs())
}
