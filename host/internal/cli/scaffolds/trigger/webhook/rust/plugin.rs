//! Begins a run for each request of a sender that knows the token.
mod easel;
use easel::{Call, Error, Items, Value};

#[no_mangle]
pub extern "C" fn easel_invoke() -> i32 {
    easel::invoke(hook)
}

fn hook(call: &Call) -> Result<Value, Error> {
    let (received, token) = (call.received(), call.param("token").text());
    if token.is_empty() || received.header("x-token") != token {
        return Err(Error::new("unauthorized", "X-Token is not the token of this schedule"));
    }
    let mut out = Items::new();
    out.add("", &received.text(), Value::Null);
    out.reply(202, "text/plain", "accepted");
    Ok(out.outputs())
}
