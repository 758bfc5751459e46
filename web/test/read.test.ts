// Documents that a user attaches: their text, or the reason why they cannot be read.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readDocument } from "../read/document.ts";
import { mostText, ReadError } from "../read/errors.ts";
import { Files } from "../run/files.ts";
import { en } from "../words/en.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));
const file = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(new URL(`../../host/internal/document/testdata/${name}`, import.meta.url)));

async function refusal(content: Uint8Array<ArrayBuffer>): Promise<string> {
  try {
    return `read: ${(await readDocument(content)).slice(0, 80)}`;
  } catch (err) {
    assert.ok(err instanceof ReadError, String((err as Error).stack));
    assert.ok(`read.${err.code}` in en);
    return err.code;
  }
}

// zip packs parts; with `stored` they are not compressed.
async function zip(
  parts: Record<string, string>,
  { stored = false, flags = 0 } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(parts)) {
    const raw = Buffer.from(text);
    const packed = stored
      ? raw
      : Buffer.from(
          await new Response(new Blob([raw]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer(),
        );
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(stored ? 0 : 8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(raw.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    list.push(entry, Buffer.from(name));
    chunks.push(local, Buffer.from(name), packed);
    at += 30 + name.length + packed.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...chunks, directory, end]));
}

const word = (body: string): Record<string, string> => ({
  "word/document.xml": `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
});

// pdf returns a file of one page with some text.
function pdf(
  text: string,
  more = "",
  font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
): Uint8Array<ArrayBuffer> {
  const content = `BT /F 24 Tf 72 700 Td (${text}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    font,
  ];
  const body = objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join("");
  return bytes(`%PDF-1.4\n${body}trailer<</Root 1 0 R${more}>>\n%%EOF`);
}

test("a PDF is read", async () => {
  assert.match(await readDocument(file("returns.pdf")), /return/i);
  assert.equal(await readDocument(pdf("Hello from page one")), "Hello from page one");
});

test("Office files are read: headings, lists, tables, sheets with dates, slides in order", async () => {
  for (const name of ["returns.docx", "returns.pptx"]) assert.match(await readDocument(file(name)), /return/i, name);
  const orders = await readDocument(file("orders.xlsx"));
  assert.match(orders, /^# .+\n\n\| .+ \|\n\| ---/);
  const docx = await zip(
    word(
      '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Tea &amp; &#x4E2D;</w:t></w:r></w:p><w:p><w:pPr>' +
      '<w:numPr/></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r></w:p>' +
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr><w:tr><w:tc><w:p>" +
        "<w:r><w:t>c</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>d</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p>" +
        "<w:r><w:delText>gone</w:delText></w:r></w:p>",
    ),
  );
  assert.equal(await readDocument(docx), "# Tea & 中\n\n- one\ttwo\n\n| a\\|b |  |\n| --- | --- |\n| c | d |");
  const xlsx = await zip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="Costs" sheetId="1" r:id="rId7"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels":
      '<Relationships><Relationship Id="rId7" Target="worksheets/one.xml"/></Relationships>',
    "xl/sharedStrings.xml": "<sst><si><t>Day</t></si><si><r><t>Co</t></r><r><t>st</t></r></si></sst>",
    "xl/styles.xml":
      '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd.mm.yy"/></numFmts><cellXfs><xf numFmtId="0"/><xf ' +
      'numFmtId="170"/></cellXfs></styleSheet>',
    "xl/worksheets/one.xml":
      '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"><c ' +
      'r="A2" s="1"><v>45292</v></c><c r="C2"><v>2.5</v></c></row></sheetData></worksheet>',
  });
  assert.equal(await readDocument(xlsx), "# Costs\n\n| Day |  | Cost |\n| --- | --- | --- |\n| 2024-01-01 |  | 2.5 |");
  const slide = (text: string): string => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const pptx = await zip(
    {
      "ppt/presentation.xml":
        '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="b"/><p:sldId id="2" r:id="a"/></p:sldIdLst>' +
        '</p:presentation>',
      "ppt/_rels/presentation.xml.rels":
        '<R><Relationship Id="a" Target="slides/slide1.xml"/><Relationship Id="b" Target="/ppt/slides/slide2.xml"/>' +
        '</R>',
      "ppt/slides/slide1.xml": slide("last"),
      "ppt/slides/slide2.xml": slide("first"),
    },
    { stored: true },
  );
  assert.equal(await readDocument(pptx), "first\n\nlast");
});

test("text is read in its encoding", async () => {
  assert.equal(await readDocument(bytes("a\r\nb\rc 中文")), "a\nb\nc 中文");
  assert.equal(await readDocument(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])), "a");
  assert.equal(await readDocument(new Uint8Array([0xff, 0xfe, 0x2d, 0x4e])), "中");
  assert.equal(await readDocument(new Uint8Array([0xd6, 0xd0, 0xce, 0xc4])), "中文");
  assert.equal(await readDocument(bytes("")), "");
});

test("unreadable documents are refused with the reason", async () => {
  const cases: [content: Uint8Array<ArrayBuffer>, reason: string][] = [
    [bytes("%PDF-1.7 and nothing else"), "damaged"],
    [pdf(""), "no_text"],
    [
      pdf("x", `/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<${"41".repeat(32)}>/U<${"42".repeat(32)}>>>`),
      "encrypted",
    ],
    [
      pdf(
        "\\116\\055",
        "",
        "<</Type/Font/Subtype/Type0/BaseFont/STSong/Encoding/UniGB-UCS2-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>/FontDescriptor<</Type/FontDescriptor/FontName/STSong/Flags 4/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>>>]>>",
      ),
      "unknown_font",
    ],
    [new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), "old_office"],
    [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 0]), "not_text"],
    [bytes("PK\u0003\u0004 cut off"), "damaged"],
    [await zip({ "a.txt": "hello" }), "archive"],
    [await zip(word("<w:p/>")), "no_text"],
    [await zip(word("<w:t>x"), { flags: 1 }), "encrypted"],
    [await zip(word(`<w:t>${" ".repeat(70 << 20)}`)), "too_long"],
    [bytes("x".repeat(mostText + 1)), "too_long"],
  ];
  for (const [content, reason] of cases) assert.equal(await refusal(content), reason);
  const files = new Files(readDocument);
  await assert.rejects(
    files.add(new File([new Uint8Array((20 << 20) + 1)], "large.txt")),
    (err) => err instanceof ReadError && err.code === "too_large",
  );
  await assert.rejects(
    new Files().add(new File(["x"], "x.txt")),
    (err) => err instanceof ReadError && err.code === "no_reader",
  );
});

test("a drawing is read as text", async () => {
  const files = new Files(readDocument);
  const drawing = await files.add(new File(["<svg><text>Hello</text></svg>"], "a.svg", { type: "image/svg+xml" }));
  assert.equal(files.text(drawing), "<svg><text>Hello</text></svg>");
});

test("hostile Office files use no more memory than their size", async () => {
  const wide = `<worksheet><sheetData>${'<row><c r="ALK1"><v>1</v></c></row>'.repeat(20_000)}</sheetData></worksheet>`;
  const book = {
    "xl/workbook.xml": '<sheet name="a" r:id="a"/>',
    "xl/_rels/workbook.xml.rels": '<Relationship Id="a" Target="a.xml"/>',
  };
  assert.equal(await refusal(await zip({ ...book, "xl/a.xml": wide })), "too_long");
  for (const body of [
    "<".repeat(2e6),
    `<w:p ${"a".repeat(2e6)}>`,
    "<w:tbl><w:tr><w:tc>".repeat(2e5),
    "&".repeat(2e6),
    "<w:t>" + "<w:p>".repeat(2e5),
  ]) {
    const from = process.cpuUsage();
    await refusal(await zip(word(body)));
    const { user } = process.cpuUsage(from); // microseconds; other programs do not count
    assert.ok(user < 10e6, `${body.slice(0, 20)}: ${user / 1e6} s`);
  }
});

test("damaged documents are refused, wherever the damage is", async () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const whole = ["returns.docx", "returns.pptx", "orders.xlsx", "returns.pdf"].map(file);
  for (let round = 0; round < 60; round++) {
    const content = (whole[round % whole.length] as Uint8Array<ArrayBuffer>).slice();
    for (let count = 1 + random(20); count > 0; count--) content[random(content.length)] = random(256);
    await refusal(content.slice(0, random(4) === 0 ? random(content.length) : undefined));
  }
});
