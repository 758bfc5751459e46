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

// types are the media types of the page's files. The system table is not used: a minimal image has
// none, and a WebAssembly module with a wrong type starts slower.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".mjs": "text/javascript; charset=utf-8", ".zip": "application/zip",
	".wasm": "application/wasm", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".json": "application/json",
}

// site is the set of files of the page.
type site struct {
	files  map[string]*file
	policy string // Content-Security-Policy, from index.html

	embedders string // who may show the chat page in a frame: sources of frame-ancestors
}

// file is a file in its compressed forms.
type file struct {
	kind, tag string
	forms     map[string][]byte // Content-Encoding -> bytes: br, gzip
	hashed    bool              // the name contains a hash of the content
}

// newSite reads files named *.br and *.gz from a directory. Other files are ignored.
func newSite(dist fs.FS) *site {
	s := &site{files: map[string]*file{}}
	// Unreadable files are treated as missing.
	_ = fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
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
		f = &file{kind: types[path.Ext(name)], forms: map[string][]byte{}, hashed: strings.HasPrefix(name, "assets/")}
		s.files[name] = f
	}
	f.forms[encoding] = data
	if encoding == "gzip" {
		sum := sha256.Sum256(data)
		f.tag = base64.RawURLEncoding.EncodeToString(sum[:12])
	}
}

// filePolicy applies to all files but index.html. A Worker uses the policy of its script: the
// page's workers run untrusted scripts and plugins, which need only the files of the page.
const filePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

// serve responds to GET and HEAD for a path of the page.
func (s *site) serve(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
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
	if f.hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if f.kind != "" {
		h.Set("Content-Type", f.kind)
	}
	s.setPolicy(h, name)
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
		_, _ = w.Write(f.forms[encoding]) // fails only if the client is gone
	}
}

// setPolicy sets what the file may do, and where it may be used.
func (s *site) setPolicy(h http.Header, name string) {
	h.Set("Content-Security-Policy", filePolicy)
	switch name {
	case "index.html":
		h.Set("Content-Security-Policy", s.policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
	case shareFile:
		h.Set("Content-Security-Policy", sharePolicy+"; frame-ancestors "+s.embedders)
		h.Set("Referrer-Policy", "no-referrer") // the address contains the token
	case widgetFile:
		// Sites include it, also with integrity, or from pages that are isolated.
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
}

// unpack sends the decompressed file.
func (f *file) unpack(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.Copy(w, f.plain()) // fails only if the client is gone
	}
}

func (f *file) plain() io.Reader {
	unpacked, err := gzip.NewReader(bytes.NewReader(f.forms["gzip"]))
	if err != nil {
		return strings.NewReader("") // the build writes valid gzip
	}
	return unpacked
}

var refused = regexp.MustCompile(`^\s*q=0(\.0*)?\s*$`)

// choose returns the smallest encoding that the client accepts, or "".
func choose(accepted string, f *file) string {
	offered := map[string]bool{}
	for part := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(part, ";")
		offered[strings.ToLower(strings.TrimSpace(name))] = !refused.MatchString(weight)
	}
	for _, encoding := range []string{"br", "gzip"} {
		accepts, named := offered[encoding]
		if f.forms[encoding] != nil && (accepts || !named && offered["*"]) {
			return encoding
		}
	}
	return ""
}

// matches reports whether If-None-Match contains tag.
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

// policyOf returns the policy that index.html declares for static servers, plus the directives that
// only a header can set.
func policyOf(index *file) string {
	const alone = "frame-ancestors 'none'"
	if index == nil {
		return alone
	}
	text, err := io.ReadAll(index.plain())
	found := policyMeta.FindSubmatch(text)
	if err != nil || found == nil {
		return "default-src 'none'; " + alone // without a policy the page may do nothing
	}
	return html.UnescapeString(string(found[1])) + "; " + alone
}
