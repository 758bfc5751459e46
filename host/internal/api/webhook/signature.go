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
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// signature checks how the sender of a webhook signs its requests: with an HMAC over the body as it
// arrives, or over a text that holds the body and a time, in a header. The zero settings match
// GitHub's.
type signature struct {
	secret    []byte
	header    string
	prefix    string // in front of the code
	anyPrefix bool   // prefix may be left out: the canvas does not name it
	hash      func() hash.Hash
	decode    func(string) ([]byte, error)
	encoding  string // as decode reads it
	payload   []signedPart
	clock     string // the header with the time; "" without one
	mark      string // prefix of the time among the signatures; "" if it has a header
	tolerance int64  // seconds between that time and now
	once      bool   // a signature counts for one run
}

// signedPart is a piece of what is signed: text, or a placeholder of hmac.payload.
type signedPart struct {
	text   string
	holder string // body, timestamp or header:NAME; "" for text
}

// signedHolders are the placeholders of hmac.payload.
var signedHolders = regexp.MustCompile(`\{(body|timestamp|header:[A-Za-z0-9_-]+)\}`)

// secretMark begins keys that senders write in base64, by the rules of Standard Webhooks.
const secretMark = "whsec_"

// usualTolerance bounds the difference of a signed time from now, in seconds.
const usualTolerance = 300

var signatureHashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha1": sha1.New}

// readSignature reads security.hmac of a canvas.
func readSignature(v engine.Value) (signature, error) {
	text := func(name string) string { return app.SignatureSetting(v, name) }
	algorithm, encoding := strings.ToLower(text("algorithm")), strings.ToLower(text("encoding"))
	s := signature{
		header: text("header"), prefix: text("prefix"),
		anyPrefix: v.Get("prefix").IsNull(), hash: signatureHashes[algorithm], encoding: encoding,
		clock: text("timestamp_header"), mark: text("timestamp_prefix"), tolerance: usualTolerance,
	}
	if err := s.readSecret(text("secret"), strings.ToLower(text("secret_encoding"))); err != nil {
		return s, err
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
	s.once = s.timed()
	if v.Get("once").Kind() == engine.KindBool {
		s.once = v.Get("once").True()
	}
	if s.clock != "" && s.mark != "" {
		return s, badWebhook("hmac.timestamp_header and hmac.timestamp_prefix exclude each other")
	}
	return s, s.readPayload(text("payload"))
}

// readSecret reads hmac.secret.
func (s *signature) readSecret(text, encoding string) error {
	if text == "" {
		return badWebhook("HMAC secret not configured")
	}
	switch encoding {
	case "text":
		s.secret = []byte(text)
	case "base64":
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretMark))
		if err != nil || len(key) == 0 {
			return badWebhook("hmac.secret is not base64, as hmac.secret_encoding says")
		}
		s.secret = key
	default:
		return badWebhook("hmac.secret_encoding %q is not supported (one of text, base64)", encoding)
	}
	return nil
}

// timed reports whether a time is signed.
func (s *signature) timed() bool { return s.clock != "" || s.mark != "" }

// readPayload reads hmac.payload.
func (s *signature) readPayload(text string) error {
	count, from := map[string]int{}, 0
	for _, at := range signedHolders.FindAllStringSubmatchIndex(text, -1) {
		holder := text[at[2]:at[3]]
		s.payload = append(s.payload, signedPart{text: text[from:at[0]]}, signedPart{holder: holder})
		count[holder]++
		from = at[1]
	}
	s.payload = append(s.payload, signedPart{text: text[from:]})
	switch {
	case count["body"] != 1:
		return badWebhook("hmac.payload must contain {body} once, such as v0:{timestamp}:{body}")
	case s.timed() && count["timestamp"] == 0:
		return badWebhook("hmac.payload must contain {timestamp}: without it, the time of the request is not signed")
	case !s.timed() && count["timestamp"] > 0:
		return badWebhook("hmac.timestamp_header or hmac.timestamp_prefix must say where {timestamp} of hmac.payload is")
	}
	return nil
}

// parts are the signatures, and what else stands among them, in a request: senders that change
// their key sign with the old and the new one for a while.
func (s *signature) parts(h http.Header) []string {
	comma := !strings.Contains(s.prefix, ",")
	return strings.FieldsFunc(strings.Join(h.Values(s.header), " "), func(r rune) bool {
		return r == ' ' || r == '\t' || r == ',' && comma
	})
}

// given are the codes that a request brings.
func (s *signature) given(parts []string) (codes [][]byte, err error) {
	if len(parts) == 0 {
		return nil, badWebhook("Missing signature header %s", s.header)
	}
	err = badWebhook("Invalid signature: the signature header %s must begin with %q", s.header, s.prefix)
	for _, part := range parts {
		code, found := strings.CutPrefix(part, s.prefix)
		if !found && !s.anyPrefix {
			continue // of another scheme
		}
		sum, wrong := s.decode(code)
		if wrong != nil {
			err = badWebhook("Invalid signature: the signature header %s is not %s", s.header, s.encoding)
			continue
		}
		codes = append(codes, sum)
	}
	if len(codes) == 0 {
		return nil, err
	}
	return codes, nil
}

// timestamp is the signed time of a request, "" when none is.
func (s *signature) timestamp(h http.Header, parts []string) (string, error) {
	switch {
	case s.clock != "":
		text := strings.TrimSpace(h.Get(s.clock))
		return text, checkTimestamp("timestamp header "+s.clock, text, s.tolerance)
	case s.mark == "":
		return "", nil
	}
	var found []string
	for _, part := range parts {
		if text, ok := strings.CutPrefix(part, s.mark); ok {
			found = append(found, text)
		}
	}
	if len(found) > 1 {
		return "", badWebhook("Invalid timestamp: the signature header %s has %d of them", s.header, len(found))
	}
	text := strings.Join(found, "")
	return text, checkTimestamp("timestamp "+s.mark+" in the signature header "+s.header, text, s.tolerance)
}

// sum is the code of a body.
func (s *signature) sum(h http.Header, body, timestamp string) []byte {
	m := hmac.New(s.hash, s.secret)
	for _, part := range s.payload {
		text := part.text
		switch name, named := strings.CutPrefix(part.holder, "header:"); {
		case named:
			text = h.Get(name)
		case part.holder == "body":
			text = body
		case part.holder == "timestamp":
			text = timestamp
		}
		_, _ = io.WriteString(m, text) // a hash takes everything
	}
	return m.Sum(nil)
}

// checkTimestamp refuses a signed time that is too far away: a request that was overheard must not
// count for ever. where names its place.
func checkTimestamp(where, text string, tolerance int64) error {
	if text == "" {
		return badWebhook("Missing %s", where)
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return badWebhook("Invalid %s: %.40q is not a Unix time in seconds", where, text)
	}
	if now := time.Now().Unix(); at < now-tolerance || at > now+tolerance {
		return badWebhook("Invalid %s: %d is more than %d seconds from now", where, at, tolerance)
	}
	return nil
}

// check compares the signatures of a request; one that fits is enough, and is returned. What the
// headers contain is checked before the body is read.
func (s *signature) check(h http.Header, read func() (string, error)) ([]byte, error) {
	parts := s.parts(h)
	given, err := s.given(parts)
	if err != nil {
		return nil, err
	}
	timestamp, err := s.timestamp(h, parts)
	if err != nil {
		return nil, err
	}
	body, err := read()
	if err != nil {
		return nil, err
	}
	sum := s.sum(h, body, timestamp)
	if !slices.ContainsFunc(given, func(code []byte) bool { return hmac.Equal(code, sum) }) {
		return nil, badWebhook("Invalid signature")
	}
	return sum, nil
}

// checkSignature proves a request by the signature of its body.
func (in *incoming) checkSignature(settings engine.Value) error {
	s, err := readSignature(settings)
	if err != nil {
		return err
	}
	sum, err := s.check(in.HTTP.Header, in.rawBody)
	if err == nil && s.once {
		in.signed = sum
	}
	return err
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

// proofHeaders are headers with credentials of the sender. The canvas does not get them: its
// outputs are stored, and shown to all who may see its runs.
var proofHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie"}

// isProof reports whether a header, in its canonical form, is a proof under a security section.
func isProof(header string, security engine.Value) bool {
	byToken := security.Get("auth_type").Text() == "token"
	return slices.Contains(proofHeaders, header) ||
		byToken && strings.EqualFold(header, security.Get("token").Get("token_header").Text())
}
