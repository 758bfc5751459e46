//! table reads CSV or JSON and gives rows: chosen columns, sorted, and as a table in Markdown.
//!
//! The lesson: a component that only computes. It asks for nothing, keeps nothing between calls (state "none", so
//! every call gets a fresh instance), and tells the caller which line is wrong. No crates, 90 KB.

#[path = "../../sdk-rust/easel.rs"]
mod easel;
use easel::{Call, Error, Value};

#[no_mangle]
pub extern "C" fn easel_invoke() -> i32 {
    easel::invoke(table)
}

fn wrong(message: String) -> Error {
    Error::new("invalid_argument", message)
}

/// A row is an object with the columns as members.
type Row = Vec<(String, Value)>;

fn table(call: &Call) -> Result<Value, Error> {
    let data = call.argument("data").text().trim();
    let mut rows = if data.starts_with('[') { from_json(data)? } else { from_csv(data)? };
    let by = call.param("sort").text();
    if !by.is_empty() {
        rows.sort_by(|a, b| compare(cell(a, by), cell(b, by)));
    }
    if let Some(n) = call.param("limit").number() {
        rows.truncate(n as usize);
    }
    let chosen: Vec<String> = call.param("columns").items().iter().map(|v| v.plain()).collect();
    let columns = if chosen.is_empty() { names(&rows) } else { chosen };
    let text = markdown(&rows, &columns);
    let count = rows.len() as f64;
    let rows = rows.iter().map(|r| Value::Object(columns.iter().map(|c| (c.clone(), cell(r, c).clone())).collect())).collect();
    Ok(Value::object(vec![("text", Value::from(text)), ("rows", Value::List(rows)), ("count", Value::from(count))]))
}

fn cell<'a>(row: &'a Row, name: &str) -> &'a Value {
    row.iter().find(|(k, _)| k == name).map(|(_, v)| v).unwrap_or(&Value::Null)
}

/// Numbers come before texts; equal rows keep their order.
fn compare(a: &Value, b: &Value) -> std::cmp::Ordering {
    use std::cmp::Ordering::*;
    match (a.number(), b.number()) {
        (Some(x), Some(y)) => x.partial_cmp(&y).unwrap_or(Equal),
        (Some(_), None) => Less,
        (None, Some(_)) => Greater,
        _ => a.plain().cmp(&b.plain()),
    }
}

/// All columns, in the order they first appear.
fn names(rows: &[Row]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !out.contains(name) {
            out.push(name.clone());
        }
    }
    out
}

fn markdown(rows: &[Row], columns: &[String]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let safe = |s: String| s.replace('|', "\\|").replace('\n', " ");
    let mut out = line(columns.iter().map(|c| safe(c.clone())).collect());
    out += &line(columns.iter().map(|_| "---".to_string()).collect());
    for r in rows {
        out += &line(columns.iter().map(|c| safe(cell(r, c).plain())).collect());
    }
    out
}

fn from_json(data: &str) -> Result<Vec<Row>, Error> {
    let v = Value::parse(data).map_err(wrong)?;
    v.items().iter().enumerate().map(|(i, row)| match row {
        Value::Object(members) => Ok(members.clone()),
        _ => Err(wrong(format!("data[{}] is no object", i))),
    }).collect()
}

/// Reads RFC 4180: quotes may hold commas, line ends and doubled quotes. Numbers become numbers.
fn from_csv(data: &str) -> Result<Vec<Row>, Error> {
    let mut lines = split(data)?;
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let header = lines.remove(0);
    lines.into_iter().enumerate().map(|(i, cells)| {
        if cells.len() != header.len() {
            return Err(wrong(format!("line {} has {} fields, the first line has {}", i + 2, cells.len(), header.len())));
        }
        Ok(header.iter().cloned().zip(cells.into_iter().map(|c| typed(c))).collect())
    }).collect()
}

fn typed(cell: String) -> Value {
    match Value::parse(&cell) {
        Ok(v @ Value::Number(_)) => v,
        _ if cell.is_empty() => Value::Null,
        _ => Value::from(cell),
    }
}

fn split(data: &str) -> Result<Vec<Vec<String>>, Error> {
    let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut chars) = (false, data.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted || field.is_empty() => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            c => field.push(c),
        }
    }
    if quoted {
        return Err(wrong("a quote in the data has no end".to_string()));
    }
    if !field.is_empty() || !line.is_empty() {
        line.push(field);
        lines.push(line);
    }
    Ok(lines)
}
