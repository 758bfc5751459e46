//// length counts units
function main() { return ["é".length, "e\u0301".length, "😀".length, [..."😀é"].length, "👨‍👩‍👧".length] }
//// case
function main() { return ["straße".toUpperCase(), "İ".toLowerCase(), "ΑΣ".toLowerCase(), "ǆ".toUpperCase()] }
//// normal forms
function main() { return ["e\u0301".normalize() === "é", "ﬁ".normalize("NFKC"), "é".normalize("NFD").length] }
//// code points
function main() { return ["😀".codePointAt(0), "😀".charCodeAt(0), String.fromCodePoint(128512, 65), "a😀b".at(-1), "abc".at(-4) === undefined] }
//// cutting
function main() { return ["hello".slice(-3, -1), "hello".substring(3, 1), "a-b--c".split("-"), "abc".split(""), "a1b2".split(/\d/), "abc".padStart(6, "12"), "x".repeat(3), "  trim\u00a0".trim()] }
//// finding
function main() { return ["banana".indexOf("an", 2), "banana".lastIndexOf("an"), "banana".includes("nan"), "ab".startsWith("b", 1), "abc".endsWith("b", 2)] }
//// replacing
function main() { return ["aaa".replace("a", "b"), "aaa".replaceAll("a", "$&$&"), "John Smith".replace(/(\w+)\s(\w+)/, "$2, $1"), "abc".replace(/b/, (m, at) => m + at)] }
//// templates
function main() { const tag = (parts, ...values) => parts.raw.join("|") + values.join(","); return [`a${1 + 1}b`, tag`x${1}\n${2}y`] }
//// comparing with a locale
function main() { return ["a".localeCompare("b"), "a".localeCompare("a"), ["b", "a", "c"].sort((x, y) => x.localeCompare(y))] }
//// sorting text
function main() { return ["ä", "z", "a", "Z", "10", "9"].sort() }
//// half a pair of surrogates
function main() { return ["\ud83d", "a\ude00b"].map((s) => s.length) }
//// well formed
function main() { return ["a\ud83d".isWellFormed(), "a\ud83d".toWellFormed().charCodeAt(1)] }
//// escaping
function main() { return [encodeURIComponent("ä b&c/"), decodeURIComponent("%C3%A4"), encodeURI("ä b&c/"), escape("ä"), unescape("%E4")] }
//// arguments keep their text :: {"t": "grüß 茶 😀 \u2028 \" \\ </script>"}
function main({ t }) { return [t, t.length] }
