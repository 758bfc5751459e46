// Package redact removes credentials from addresses for errors and logs.
package redact

import (
	"errors"
	"net/url"
	"strings"
)

// ErrAddress replaces the error of an address that cannot be parsed, which has a part of it: often
// a part of the password.
var ErrAddress = errors.New("not a valid address; escape special characters of a password, such as %25 for %")

// hidden replaces user, password and query.
const hidden = "***"

// Address returns an address without user, password and query, which may be tokens. It does so with
// addresses that cannot be parsed as well: everything up to the last @ counts as user and password.
func Address(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "", text
	} else {
		scheme += "://"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = hidden + rest[at:]
	}
	if at := strings.IndexAny(rest, "?&"); at >= 0 {
		rest = rest[:at+1] + hidden
	}
	return scheme + rest
}

// Error returns an error of the package net/url or of an HTTP client without the credentials of its
// address.
func Error(err error) error {
	var of *url.Error
	switch {
	case !errors.As(err, &of):
		return err
	case of.Op == "parse":
		return ErrAddress
	case err == error(of):
		return &url.Error{Op: of.Op, URL: Address(of.URL), Err: of.Err}
	}
	return err
}
