//// parts of a moment
function main() { const d = new Date(Date.UTC(2024, 1, 29, 13, 5, 9, 7)); return [d.toISOString(), d.getTime(), d.getUTCDay(), d.toJSON()] }
//// a date as a result
function main() { return { at: new Date(0), list: [new Date(86400000)] } }
//// reading
function main() { return ["2024-02-30", "2024-02-29T12:00:00Z", "2024-02-29", "nonsense", "2024-02-29T12:00:00+02:00"].map((t) => { const n = Date.parse(t); return Number.isNaN(n) ? null : n }) }
//// arithmetic
function main() { const d = new Date("2024-01-31T00:00:00Z"); d.setUTCMonth(1); return [d.toISOString(), new Date("2024-03-01") - new Date("2024-02-01")] }
//// local time is universal time
function main() { const d = new Date(2024, 5, 1, 12); return [d.getTimezoneOffset(), d.toISOString(), d.getHours()] }
//// as text
function main() { const d = new Date(0); return [d.toUTCString(), String(d), d.toDateString()] }
//// the locale's way
function main() { return new Date(0).toLocaleDateString("en-US") }
//// no date at all
function main() { return [String(new Date(NaN)), new Date(NaN).getTime(), JSON.stringify(new Date(NaN))] }
//// now moves
function main() { return [typeof Date.now(), Date.now() > 1.6e12, new Date() instanceof Date] }
//// years below 100
function main() { return [new Date(99, 0).getFullYear(), new Date(Date.UTC(0, 0)).getUTCFullYear(), new Date(-62198755200000).toISOString()] }
