package webhook

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// signature is how the sender of a webhook signs its requests: an HMAC over the body as it arrives,
// or over a text that holds the body and a time, in a header. The zero settings are those of
// GitHub.
type signature struct {
	secret    string
	header    string
	prefix    string // in front of the code
	anyPrefix bool   // prefix may be left out: the canvas does not name it
	hash      func() hash.Hash
	decode    func(string) ([]byte, error)
	encoding  string // as decode reads it
	payload   string // what is signed, with {body} and {timestamp}
	clock     string // the header with the time; "" without one
	tolerance int64  // seconds between that time and now
}

// Placeholders of hmac.payload.
const (
	signedBody = "{body}"
	signedTime = "{timestamp}"
)

// usualTolerance is how many seconds old, or early, a signed time may be.
const usualTolerance = 300

var signatureHashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha1": sha1.New}

// readSignature reads security.hmac of a canvas.
func readSignature(v engine.Value) (signature, error) {
	text := func(name, absent string) string {
		if t := v.Get(name); !t.IsNull() {
			return t.Text()
		}
		return absent
	}
	algorithm, encoding := strings.ToLower(text("algorithm", "sha256")), strings.ToLower(text("encoding", "hex"))
	s := signature{
		secret: text("secret", ""), header: text("header", "X-Hub-Signature-256"), prefix: text("prefix", algorithm+"="),
		anyPrefix: v.Get("prefix").IsNull(), hash: signatureHashes[algorithm], encoding: encoding,
		clock: text("timestamp_header", ""), tolerance: usualTolerance,
	}
	if s.secret == "" {
		return s, badWebhook("HMAC secret not configured")
	}
	if s.header == "" {
		return s, badWebhook("hmac.header is empty; leave it out for X-Hub-Signature-256")
	}
	if s.hash == nil {
		return s, badWebhook("hmac.algorithm %q is not supported (one of sha256, sha512, sha1)", algorithm)
	}
	switch encoding {
	case "hex":
		s.decode = hex.DecodeString
	case "base64":
		s.decode = base64.StdEncoding.DecodeString
	default:
		return s, badWebhook("hmac.encoding %q is not supported (one of hex, base64)", encoding)
	}
	if t := v.Get("tolerance"); !t.IsNull() {
		n, err := strconv.ParseInt(t.Text(), 10, 32)
		if err != nil || n < 1 {
			return s, badWebhook("hmac.tolerance must be a number of seconds of at least 1, not %.40q", t.Text())
		}
		s.tolerance = n
	}
	return s, s.readPayload(text("payload", ""))
}

// readPayload reads hmac.payload, which is the body alone, or behind its time, when it is left out.
func (s *signature) readPayload(text string) error {
	if text == "" {
		text = signedBody
		if s.clock != "" {
			text = signedTime + "." + signedBody
		}
	}
	timed := strings.Contains(text, signedTime)
	switch {
	case strings.Count(text, signedBody) != 1:
		return badWebhook("hmac.payload must contain {body} once, such as v0:{timestamp}:{body}")
	case s.clock != "" && !timed:
		return badWebhook("hmac.payload must contain {timestamp}: without it, that of hmac.timestamp_header is not signed")
	case s.clock == "" && timed:
		return badWebhook("hmac.timestamp_header must name the header of {timestamp} in hmac.payload")
	}
	s.payload = text
	return nil
}

// given is the code that a request brings.
func (s *signature) given(text string) ([]byte, error) {
	if text == "" {
		return nil, badWebhook("Missing signature header %s", s.header)
	}
	code, found := strings.CutPrefix(text, s.prefix)
	if !found && !s.anyPrefix {
		return nil, badWebhook("Invalid signature: the signature header %s must begin with %q", s.header, s.prefix)
	}
	sum, err := s.decode(code)
	if err != nil {
		return nil, badWebhook("Invalid signature: the signature header %s is not %s", s.header, s.encoding)
	}
	return sum, nil
}

// sum is the code of a body.
func (s *signature) sum(body, timestamp string) []byte {
	m := hmac.New(s.hash, []byte(s.secret))
	before, after, _ := strings.Cut(strings.ReplaceAll(s.payload, signedTime, timestamp), signedBody)
	for _, part := range []string{before, body, after} {
		_, _ = io.WriteString(m, part) // a hash takes everything
	}
	return m.Sum(nil)
}

// checkTimestamp refuses a signed time that is too far away: a request that was overheard must not
// count for ever.
func checkTimestamp(header, text string, tolerance int64) error {
	if text == "" {
		return badWebhook("Missing timestamp header %s", header)
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return badWebhook("Invalid timestamp header %s: %.40q is not a Unix time in seconds", header, text)
	}
	if now := time.Now().Unix(); at < now-tolerance || at > now+tolerance {
		return badWebhook("Invalid timestamp header %s: %d is more than %d seconds from now", header, at, tolerance)
	}
	return nil
}

// checkSignature proves a request by the signature of its body. What the headers tell is checked
// before the body is read.
func (in *incoming) checkSignature(settings engine.Value) error {
	s, err := readSignature(settings)
	if err != nil {
		return err
	}
	given, err := s.given(strings.TrimSpace(in.HTTP.Header.Get(s.header)))
	if err != nil {
		return err
	}
	timestamp := ""
	if s.clock != "" {
		timestamp = strings.TrimSpace(in.HTTP.Header.Get(s.clock))
		if err := checkTimestamp(s.clock, timestamp, s.tolerance); err != nil {
			return err
		}
	}
	body, err := in.rawBody()
	if err != nil {
		return err
	}
	if !hmac.Equal(given, s.sum(body, timestamp)) {
		return badWebhook("Invalid signature")
	}
	return nil
}

// rawBody reads the body of a webhook once, as it arrives; it can be read again from the request.
func (in *incoming) rawBody() (string, error) {
	if in.text != nil {
		return *in.text, nil
	}
	text, err := in.ReadText(in.most)
	if err != nil {
		return "", webhookFailure(err)
	}
	in.text = &text
	in.HTTP.Body = io.NopCloser(strings.NewReader(text))
	return text, nil
}

// proofHeaders carry proofs of who sends a request. The canvas does not get them: its outputs are
// stored, and shown to all who may see its runs.
var proofHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie"}

// isProof reports whether a header, in its canonical form, is a proof under a security section.
func isProof(header string, security engine.Value) bool {
	byToken := security.Get("auth_type").Text() == "token"
	return slices.Contains(proofHeaders, header) ||
		byToken && strings.EqualFold(header, security.Get("token").Get("token_header").Text())
}
