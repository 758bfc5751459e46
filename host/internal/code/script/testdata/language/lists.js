//// sorting is stable
function main() { const a = Array.from({ length: 600 }, (_, i) => ({ k: i % 3, i })); a.sort((x, y) => x.k - y.k); return a.every((x, i) => i === 0 || a[i - 1].k < x.k || a[i - 1].i < x.i) }
//// sorting without an order
function main() { return [[10, 9, 1, undefined, null, "b", "a"].sort(), [3, 1, 2].toSorted(), [true, false].sort()] }
//// newer methods
function main() { return [[1, [2, [3, [4]]]].flat(Infinity), [1, 2].flatMap((x) => [x, x]), [1, 2, 3].at(-1), [1, 2, 3].findLast((x) => x < 3), [3, 1].toReversed(), [1, 2, 3].with(1, 9), [1, 2, 3].toSpliced(0, 1)] }
//// grouping
function main() { return [Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")), [...Map.groupBy([1, 2], (x) => x)].length] }
//// reducing
function main() { return [[1, 2, 3].reduce((a, b) => a + b), [[1], [2]].reduceRight((a, b) => a.concat(b)), [].reduce((a) => a, "start")] }
//// reducing nothing
function main() { return [].reduce((a, b) => a + b) }
//// copying and filling
function main() { return [Array.from("abc", (c, i) => c + i), Array.of(7), new Array(3).fill(0), [1, 2, 3, 4].copyWithin(0, 2), [...Array(3).keys()], Array.from({ length: 2 })] }
//// cutting
function main() { const a = [1, 2, 3, 4]; return [a.splice(1, 2, "x"), a, a.slice(-1), a.indexOf(4), [NaN].includes(NaN), [NaN].indexOf(NaN)] }
//// a hundred thousand entries
function main() { const a = Array.from({ length: 100000 }, (_, i) => (i * 7919) % 100003); a.sort((x, y) => x - y); return [a[0], a[50000], a.at(-1), a.reduce((s, x) => s + x, 0)] }
//// destructuring
function main() { const [a, , b = 5, ...rest] = [1, 2, undefined, 4, 5], { x: { y = 3 } = {}, ...others } = { p: 1, q: 2 }; return { a, b, rest, y, others } }
//// typed arrays
function main() { const v = new DataView(new ArrayBuffer(8)); v.setFloat32(0, 1.5); v.setInt16(4, -2); return [[...new Uint8Array(v.buffer)], [...new Uint8ClampedArray([300, -5, 1.5])], Float64Array.BYTES_PER_ELEMENT] }
//// length
function main() { const a = [1, 2, 3]; a.length = 1; a[3] = 4; return [a, a.length] }
//// a length that is none
function main() { return new Array(-1) }
