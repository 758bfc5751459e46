package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// types are the media types of the page's files. The machine's own table is not asked: a minimal
// image has none, and a module with a wrong type starts slower.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".wasm": "application/wasm", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".json": "application/json",
}

// site is the page's files, ready to send.
type site struct {
	files  map[string]*file
	policy string // Content-Security-Policy, as index.html itself says it
}

// file is one file in its compressed forms.
type file struct {
	kind, tag string
	forms     map[string][]byte // Content-Encoding -> bytes: br, gzip
	lasting   bool              // its name changes with its content
}

// newSite reads a folder of files name.br and name.gz. What else is there is left alone.
func newSite(dist fs.FS) *site {
	s := &site{files: map[string]*file{}}
	_ = fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error { // a file that cannot be read is missing
		if err != nil || entry.IsDir() {
			return nil
		}
		encoding, ok := map[string]string{".br": "br", ".gz": "gzip"}[path.Ext(name)]
		data, err := fs.ReadFile(dist, name)
		if !ok || err != nil {
			return nil
		}
		s.add(strings.TrimSuffix(name, path.Ext(name)), encoding, data)
		return nil
	})
	s.policy = policyOf(s.files["index.html"])
	return s
}

func (s *site) add(name, encoding string, data []byte) {
	f := s.files[name]
	if f == nil {
		f = &file{kind: types[path.Ext(name)], forms: map[string][]byte{}, lasting: strings.HasPrefix(name, "assets/")}
		s.files[name] = f
	}
	f.forms[encoding] = data
	if encoding == "gzip" {
		sum := sha256.Sum256(data)
		f.tag = base64.RawURLEncoding.EncodeToString(sum[:12])
	}
}

// filePolicy is for all files but index.html. A Worker has the policy of its own script: those of
// the page run scripts and plugins of strangers, and need nothing but the page's files.
const filePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

// serve answers GET and HEAD for one of the page's paths.
func (s *site) serve(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if name == "" {
		name = "index.html"
	}
	f := s.files[name]
	if f == nil || f.forms["gzip"] == nil {
		h.Set("Cache-Control", "no-store")
		text := "the page has no file " + strconv.Quote(name) + "\n"
		if len(s.files) == 0 {
			text = missing
		}
		http.Error(w, strings.TrimSpace(text), http.StatusNotFound)
		return
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if f.lasting {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if f.kind != "" {
		h.Set("Content-Type", f.kind)
	}
	h.Set("Content-Security-Policy", filePolicy)
	if name == "index.html" {
		h.Set("Content-Security-Policy", s.policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
	}
	encoding := choose(r.Header.Get("Accept-Encoding"), f)
	tag := strconv.Quote(strings.TrimSuffix(f.tag+"-"+encoding, "-"))
	h.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if encoding == "" {
		f.unpack(w, r)
		return
	}
	h.Set("Content-Encoding", encoding)
	h.Set("Content-Length", strconv.Itoa(len(f.forms[encoding])))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.forms[encoding]) // the client is gone when this fails
	}
}

// unpack sends a file as it was before it was compressed.
func (f *file) unpack(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.Copy(w, f.plain()) // the client is gone when this fails
	}
}

func (f *file) plain() io.Reader {
	unpacked, err := gzip.NewReader(bytes.NewReader(f.forms["gzip"]))
	if err != nil {
		return strings.NewReader("") // what a build has written is whole
	}
	return unpacked
}

var refused = regexp.MustCompile(`^\s*q=0(\.0*)?\s*$`)

// choose picks the smallest form that the client takes; "" is none of them.
func choose(accepted string, f *file) string {
	offered := map[string]bool{}
	for part := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(part, ";")
		offered[strings.ToLower(strings.TrimSpace(name))] = !refused.MatchString(weight)
	}
	for _, encoding := range []string{"br", "gzip"} {
		said, named := offered[encoding]
		if f.forms[encoding] != nil && (said || !named && offered["*"]) {
			return encoding
		}
	}
	return ""
}

// matches reads If-None-Match.
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == tag || part == "*" {
			return true
		}
	}
	return false
}

var policyMeta = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]+)"`)

// policyOf reads what index.html says of itself, for static servers, and adds what only a header
// can say.
func policyOf(index *file) string {
	const alone = "frame-ancestors 'none'"
	if index == nil {
		return alone
	}
	text, err := io.ReadAll(index.plain())
	found := policyMeta.FindSubmatch(text)
	if err != nil || found == nil {
		return "default-src 'none'; " + alone // a page that says nothing may do nothing
	}
	return html.UnescapeString(string(found[1])) + "; " + alone
}
