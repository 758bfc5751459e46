// Package redact finds credentials in addresses, headers and variables, for errors and logs.
package redact

import (
	"errors"
	"net/url"
	"regexp"
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

// MinSecret is the length from which a value counts as a secret wherever it stands. Shorter ones,
// such as true, occur in ordinary text.
const MinSecret = 8

// secretName matches the names of headers and variables that have credentials.
var secretName = regexp.MustCompile(`(?i)auth|cookie|key|token|secret|passw|credential|session|signature|\bpat\b`)

// Values returns the texts to hide of a header or a variable of the environment that has a
// credential by its name: the value, and what follows the scheme of an Authorization header.
func Values(name, value string) []string {
	if !secretName.MatchString(name) {
		return nil
	}
	return Credentials(value)
}

// Credentials returns the texts to hide of a value that is a credential.
func Credentials(value string) (texts []string) {
	_, token, _ := strings.Cut(value, " ")
	for _, text := range [...]string{value, strings.TrimSpace(token)} {
		if len(text) >= MinSecret {
			texts = append(texts, text)
		}
	}
	return texts
}
