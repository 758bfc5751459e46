//// arithmetic
function main() { return [0.1 + 0.2, 7 % -3, -7 % 3, 2 ** 10, 2 ** -2, 1 / 3, 5e-324, 1.7976931348623157e308] }
//// what is no number becomes null
function main() { return [NaN, Infinity, -Infinity, 0 / 0, Number("x")] }
//// zeros
function main() { return [0, -0, Object.is(-0, 0), 1 / -0 === -Infinity] }
//// large and small
function main() { return [1e21, 1e-7, 123456789012345680000, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e300] }
//// fixed, exponential, precision
function main() { return [(1.005).toFixed(2), (1234.5678).toFixed(1), (0).toFixed(3), (12345).toExponential(2), (0.00001).toPrecision(1), (123.456).toPrecision(4)] }
//// other bases
function main() { return [(255).toString(16), (0.5).toString(2), (-255).toString(36), parseInt("ff", 16), parseInt("0b1"), parseInt("12px"), Number("0x1f"), Number("0o17"), Number("1_000")] }
//// text to number
function main() { return [Number(""), Number(" 12 "), Number("1e3"), parseFloat("3.14abc"), +true, +null, +[], +[5], +"−1"] }
//// bits
function main() { return [5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 31, -1 >>> 0, -1 >> 1, 2 ** 32 | 0, 1.9 | 0] }
//// the Math object
function main() { return [Math.round(-0.5), Math.round(2.5), Math.trunc(-4.7), Math.sign(-3), Math.hypot(3, 4), Math.cbrt(27), Math.max(), Math.min(1, "2"), Math.fround(5.5), Math.clz32(1), Math.imul(3, 4), Math.log2(8)] }
//// integers that are safe
function main() { return [Number.isInteger(5.0), Number.isSafeInteger(2 ** 53), Number.MAX_SAFE_INTEGER, Number.EPSILON > 0, Number.parseFloat === parseFloat] }
//// grouping and currency need a locale
function main() { return [typeof Intl, (1234567.891).toLocaleString()] }
//// arguments keep their numbers :: {"i": 3, "f": 2.5, "whole": 4.0, "big": 12345678901234567890, "tiny": 1e-9}
function main({ i, f, whole, big, tiny }) { return { i, f, whole, big, tiny, sum: i + f } }
