//// groups with names
function main() { const { groups } = /(?<y>\d{4})-(?<m>\d\d)/.exec("on 2024-05-06"); return { ...groups } }
//// all matches
function main() { return [..."a1b22".matchAll(/([a-z])(\d+)/g)].map((m) => [m[0], m[1], m[2], m.index]) }
//// looking ahead and behind
function main() { return ["price: $42, cost: €7".match(/(?<=\$)\d+/)[0], "foobar".replace(/foo(?=bar)/, "X"), /(?<!a)b/.test("ab"), /a(?!b)/.test("ab")] }
//// sticky and its place
function main() { const r = /a/y; r.lastIndex = 1; return [r.test("ba"), r.lastIndex, r.test("ba"), r.lastIndex] }
//// unicode
function main() { return [/^.$/u.test("😀"), /^.$/.test("😀"), /\p{Script=Greek}/u.test("α"), /\u{1F600}/u.test("😀"), "ſ".match(/s/iu) !== null] }
//// dot and lines
function main() { return [/a.b/.test("a\nb"), /a.b/s.test("a\nb"), "a\nb".match(/^b$/m)[0], /[^]/.test("\n")] }
//// backreference
function main() { return [/(a)\1/.test("aa"), /(?<x>b)\k<x>/.test("bb"), "aXbX".replace(/(?<l>\w)X/g, "$<l>-")] }
//// flags and source
function main() { const r = /a\/b/gimsuy; return [r.flags, r.source, String(r)] }
//// many steps
function main() { return /^(a+)+$/.test("a".repeat(22) + "b") }
//// indices
function main() { return /b(c)/d.exec("abcd").indices.map((p) => [...p]) }
//// a pattern that is none
function main() { return new RegExp("(") }
//// lazy and greedy
function main() { return ["<a><b>".match(/<.+?>/)[0], "<a><b>".match(/<.+>/)[0], "aaa".match(/a{2,}?/)[0]] }
