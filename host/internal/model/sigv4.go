package model

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// signing is a dialect whose server takes signed requests.
type signing interface {
	sign(req *http.Request, body []byte, key string, at time.Time)
}

// credentials belong to an account of AWS.
type credentials struct{ id, secret, session string }

// accountKey is a key in the form ID:SECRET or ID:SECRET:SESSION.
var accountKey = regexp.MustCompile(`^([A-Z0-9]{16,128}):([^:\s]+)(?::(\S+))?$`)

// credentialsOf reads the key of a provider; ok is false for another kind of key.
func credentialsOf(key string) (c credentials, ok bool) {
	m := accountKey.FindStringSubmatch(key)
	if m == nil {
		return c, false
	}
	return credentials{m[1], m[2], m[3]}, true
}

// sign adds the headers of AWS's signature, version 4, which covers the host, the time, the session
// and the body.
//
// Source: package aws/signer/v4 of aws-sdk-go-v2.
func (c credentials) sign(req *http.Request, body []byte, region, service string, at time.Time) {
	stamp := at.UTC().Format("20060102T150405Z")
	day := stamp[:8]
	req.Header.Set("X-Amz-Date", stamp)
	headers, list := "host:"+req.URL.Host+"\nx-amz-date:"+stamp+"\n", "host;x-amz-date"
	if c.session != "" {
		req.Header.Set("X-Amz-Security-Token", c.session)
		headers, list = headers+"x-amz-security-token:"+c.session+"\n", list+";x-amz-security-token"
	}
	query := strings.ReplaceAll(req.URL.Query().Encode(), "+", "%20")
	canonical := strings.Join([]string{
		req.Method, awsPath(req.URL.EscapedPath()), query, headers, list, hexSum(body),
	}, "\n")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hexSum([]byte(canonical))
	key := []byte("AWS4" + c.secret)
	for _, part := range []string{day, region, service, "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+c.id+"/"+scope+", SignedHeaders="+list+
		", Signature="+hex.EncodeToString(key))
}

// awsPath escapes a path that is escaped already, as the signature of all services but S3 wants.
func awsPath(escaped string) string {
	if escaped == "" {
		return "/"
	}
	parts := strings.Split(escaped, "/")
	for i, part := range parts {
		parts[i] = awsEscape(part)
	}
	return strings.Join(parts, "/")
}

// awsEscape escapes all but letters, digits and "-._~", as AWS does.
func awsEscape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
