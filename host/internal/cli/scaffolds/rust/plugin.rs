//! A plugin for easel.
mod easel;
use easel::{Call, Error, Value};

#[no_mangle]
pub extern "C" fn easel_invoke() -> i32 {
    easel::invoke(greet)
}

fn greet(call: &Call) -> Result<Value, Error> {
    let city = call.argument("city").text();
    if city.is_empty() {
        return Err(Error::new("invalid_argument", "city is empty"));
    }
    Ok(Value::object(vec![("text", Value::from(format!("Hello, {}", city)))]))
}
