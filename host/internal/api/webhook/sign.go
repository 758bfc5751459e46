package webhook

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// SignHeader is the header with which the owner of a canvas lets the host prove a test call as its
// sender would. The response names the added headers in SignedHeader, and not their values: these
// hold or depend on the stored key, which people who may edit the canvas cannot read.
const (
	SignHeader   = "X-Easel-Sign"
	SignedHeader = "X-Easel-Signed"
)

// proveAnd runs the check of the proof of a request. A test call has the proof that the security
// section requires during the check only: what the canvas gets of the request never contains a key,
// which an editor could read by naming its header in the schema.
func proveAnd(in *incoming, s engine.Value, check func() error) error {
	if !in.signs {
		return check()
	}
	before := in.HTTP.Header
	in.HTTP.Header = before.Clone()
	defer func() { in.HTTP.Header = before }()
	if err := prove(in, s, before); err != nil {
		return err
	}
	return check()
}

// prove adds the proof to the headers of a test call.
func prove(in *incoming, s engine.Value, before http.Header) error {
	h := in.HTTP.Header
	var err error
	switch s.Get("auth_type").Text() {
	case "token":
		h.Set(s.Get("token").Get("token_header").Text(), s.Get("token").Get("token_value").Text())
	case "basic":
		in.HTTP.SetBasicAuth(s.Get("basic_auth").Get("username").Text(), s.Get("basic_auth").Get("password").Text())
	case "jwt":
		err = signToken(in, s.Get("jwt"))
	case "hmac":
		err = signBody(in, s.Get("hmac"))
	}
	// Whether the caller has guessed a key must not show in the list.
	without := before.Clone()
	for _, name := range proofNames(s) {
		without.Del(name)
	}
	var added []string
	for name, values := range h {
		if !slices.Equal(without[name], values) {
			added = append(added, name)
		}
	}
	slices.Sort(added)
	in.Writer.Header().Set(SignedHeader, strings.Join(added, ", "))
	return err
}

// proofNames returns the headers with the proof that a security section requires.
func proofNames(s engine.Value) []string {
	switch s.Get("auth_type").Text() {
	case "token":
		return []string{s.Get("token").Get("token_header").Text()}
	case "basic", "jwt":
		return []string{"Authorization"}
	case "hmac":
		settings := s.Get("hmac")
		return []string{
			app.SignatureSetting(settings, "header"), app.SignatureSetting(settings, "timestamp_header"),
		}
	}
	return nil
}

func signBody(in *incoming, settings engine.Value) error {
	s, err := readSignature(settings)
	if err != nil {
		return err
	}
	body, err := in.rawBody()
	if err != nil {
		return err
	}
	s.sign(in.HTTP.Header, body, time.Now())
	return nil
}

// sign sets the headers that check accepts for a body at a time. Other signed headers, such as the
// id of a message, get a value if they have none.
func (s *signature) sign(h http.Header, body string, now time.Time) {
	at := strconv.FormatInt(now.Unix(), 10)
	for _, part := range s.payload {
		if name, named := strings.CutPrefix(part.holder, "header:"); named && h.Get(name) == "" {
			h.Set(name, "test_"+at)
		}
	}
	if s.clock != "" {
		h.Set(s.clock, at)
	}
	sum := s.sum(h, body, at)
	code := hex.EncodeToString(sum)
	if s.encoding == "base64" {
		code = base64.StdEncoding.EncodeToString(sum)
	}
	value := s.prefix + code
	if s.mark != "" {
		value = s.mark + at + "," + value
	}
	h.Set(s.header, value)
}

// tokenLife is the validity of the token of a test call.
const tokenLife = time.Minute

// signToken adds a token with all claims that are required. Only a shared secret can sign one.
func signToken(in *incoming, v engine.Value) error {
	algorithm := strings.ToUpper(v.Get("algorithm").Text())
	if algorithm == "" {
		algorithm = "HS256"
	}
	method := jwt.GetSigningMethod(algorithm)
	if _, shared := method.(*jwt.SigningMethodHMAC); !shared {
		return badWebhook("A test call cannot be signed with %s: only the sender has the private key", algorithm)
	}
	now := time.Now()
	claims := jwt.MapClaims{"iat": now.Unix(), "exp": now.Add(tokenLife).Unix()}
	if issuer := v.Get("issuer").Text(); issuer != "" {
		claims["iss"] = issuer
	}
	if audiences := texts(v.Get("audience")); len(audiences) > 0 {
		claims["aud"] = audiences[0]
	}
	for _, name := range texts(v.Get("required_claims")) {
		claims[name] = "test"
	}
	text, err := jwt.NewWithClaims(method, claims).SignedString([]byte(v.Get("secret").Text()))
	if err != nil {
		return badWebhook("A test call cannot be signed: %s", err)
	}
	in.HTTP.Header.Set("Authorization", "Bearer "+text)
	return nil
}
