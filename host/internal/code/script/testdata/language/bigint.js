//// arithmetic
function main() { return [(2n ** 64n).toString(), String(7n / 2n), String(-7n % 3n), typeof 1n] }
//// a result becomes its text
function main() { return { big: 12345678901234567890n, list: [1n, -2n] } }
//// comparing
function main() { return [1n == 1, 1n === 1, 2n > 1, [3n, 1, 2n].sort((a, b) => (a < b ? -1 : 1)).map(String)] }
//// mixing with numbers
function main() { return 1n + 1 }
//// wrapping
function main() { return [String(BigInt.asIntN(8, 255n)), String(BigInt.asUintN(8, -1n)), String(BigInt("0xff"))] }
