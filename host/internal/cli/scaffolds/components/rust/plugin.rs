//! A plugin with several components for easel.
mod easel;
use easel::{Call, Error, Value};
{{range .}}
#[no_mangle]
pub extern "C" fn {{.Snake}}() -> i32 {
    easel::invoke(|call| answer(call, "{{.Name}}"))
}
{{end}}
/// What the components share.
fn answer(call: &Call, component: &str) -> Result<Value, Error> {
    let city = call.argument("city").text();
    if city.is_empty() {
        return Err(Error::new("invalid_argument", "city is empty"));
    }
    Ok(Value::object(vec![("text", Value::from(format!("{}: {}", component, city)))]))
}
