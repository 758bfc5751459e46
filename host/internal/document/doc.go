// Package document extracts the text of documents, or their blocks: plain text in common encodings,
// HTML, e-mails with their attachments (eml, msg), PDF, EPUB, RTF, Office (docx, xlsx, pptx, and
// doc, xls and ppt since 97) and OpenDocument (odt, ods, odp, packed or flat).
//
// The input is untrusted. The format is detected from the content rather than the name. Every
// reader is bound by the same [Limits] on size, text, pages and time, and a document that cannot be
// read is an error with its reason. PDF is read by pdfium inside a WebAssembly sandbox that is
// discarded after each file, so a file that makes pdfium hang, crash or allocate too much ends only
// its own sandbox. The Office formats are parsed by this package, part by part and token by token,
// so a small file that unpacks to gigabytes stops at the limit.
//
// [Reader.Read] returns text for a language model: headings as #, lists as -, tables as rows
// between |, one blank line between blocks. Pictures, layout, headers and footers are omitted.
// [Reader.Blocks] returns the same as a list of blocks, with images as references; of a PDF it
// finds columns, headings, tables and code by the place of words, the order of the file and its
// outline, see package layout. Images and scanned pages are read by [Reader.OCR]. Package write
// creates documents, and package fidelity measures how well blocks agree with a truth.
package document
