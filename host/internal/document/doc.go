// Package document reads the text of documents: plain text in the encodings that people use, HTML,
// PDF, and the Office formats docx, xlsx and pptx.
//
// The bytes come from strangers. What a file is, its content decides and not its name; every reader
// works within the same [Limits] of size, text, pages and time, and what cannot be read is an error
// that says why. PDF is read by pdfium inside a WebAssembly sandbox, which is thrown away after
// each file: a file that makes it hang, crash or ask for memory ends its sandbox and nothing else.
// The Office formats are read by code of this package, part by part and token by token, so a small
// file that unpacks to gigabytes stops at the limit.
//
// The result is text for a language model: headings as #, lists as -, tables as rows between |, one
// blank line between blocks. Pictures, layout, headers and footers are left out. Package write is
// the other direction.
package document
