package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// ErrNoList means that a provider does not list its models; name them.
var ErrNoList = errors.New("the server lists no models")

// Offer is a model that a provider lists, with the facts of the list.
type Offer struct {
	Name    string
	Kind    Kind
	Context int   // in tokens; 0 is unknown
	Tools   *bool // supports tool calling; nil is unknown
	Images  *bool // accepts images; nil is unknown
	// Reasons means that it may reason before it answers; nil is unknown.
	Reasons *bool
}

// Bounds of a list of models: some providers list several hundred with long descriptions.
const (
	maxListBytes = 16 << 20
	maxListPages = 20
	maxOffers    = 5000
)

// Offers lists the models of a tenant's provider as the provider itself does, by name.
//
// Errors: [store.ErrNotFound], [ErrNoList], those of the provider.
func (t *Tenants) Offers(ctx context.Context, tenant, label string) ([]Offer, error) {
	p, err := t.waitedFor(ctx, tenant, label)
	if err != nil {
		return nil, err
	}
	return p.offers(ctx)
}

// offers lists the models that a provider serves.
func (p *provider) offers(ctx context.Context) (offers []Offer, err error) {
	lists := p.lists()
	if len(lists) == 0 {
		return nil, fmt.Errorf("%w: %s has deployments of its customers; enter their names", ErrNoList,
			p.config.Label())
	}
	all := p.config.API == Bedrock // models and inference profiles; elsewhere one address or the other
	err = p.exchange(ctx, "", func(ctx context.Context, x *exchange, received func()) error {
		for i, address := range lists {
			found, refused, err := p.pages(ctx, x, address, received)
			if refused != nil && noRoute(refused) && i+1 < len(lists) {
				continue
			}
			if refused != nil && noRoute(refused) {
				return fmt.Errorf("%w (%s answers %d); check base_url, or enter the names of models", ErrNoList,
					address, refused.status)
			}
			if refused != nil {
				return refused
			}
			offers = append(offers, found...)
			if !all || err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(offers, func(a, b Offer) int { return strings.Compare(a.Name, b.Name) })
	offers = slices.CompactFunc(offers, func(a, b Offer) bool { return a.Name == b.Name })
	return offers, err
}

// lists returns the addresses at which the models of a provider may be listed.
func (p *provider) lists() []string {
	if preset, known := PresetOf(p.config.Name); known && preset.lists != "" && p.config.BaseURL == preset.BaseURL {
		return []string{preset.lists}
	}
	base := p.config.BaseURL
	switch p.config.API {
	case Azure:
		return nil
	case Bedrock:
		return bedrockLists(base)
	case Anthropic:
		return []string{trimmed(base, "/messages", "/v1") + "/v1/models?limit=1000"}
	case Gemini:
		if base = trimmed(base, "/openai", "/models"); !withVersion.MatchString(base) {
			base += "/v1beta"
		}
		return []string{base + "/models?pageSize=1000"}
	case Ollama:
		return []string{trimmed(base, "/chat/completions", "/chat", "/v1", "/api") + "/api/tags"}
	}
	base = plainBase(base)
	if versioned.MatchString(base) {
		return []string{base + "/models"}
	}
	return []string{base + "/v1/models", base + "/models"}
}

// pages reads a list of models, which may come in pages.
func (p *provider) pages(
	ctx context.Context, x *exchange, address string, received func(),
) (offers []Offer, refused *refusal, err error) {
	next := address
	for page := 0; next != ""; page++ {
		if page == maxListPages {
			return nil, nil, fmt.Errorf("%w: the list of models has more than %d pages", ErrTooLarge, maxListPages)
		}
		v, refused, err := p.list(ctx, x, next)
		if refused != nil || err != nil {
			return nil, refused, err
		}
		received()
		offers = append(offers, offersOf(v)...)
		if len(offers) > maxOffers {
			return nil, nil, fmt.Errorf("%w: the list has more than %d models", ErrTooLarge, maxOffers)
		}
		next = following(address, v)
	}
	return offers, nil, nil
}

// following returns the address of the next page of a list; "" after the last one.
func following(address string, v engine.Value) string {
	next := url.Values{}
	if token := v.Get("nextPageToken").Str(); token != "" { // Gemini
		next.Set("pageToken", token)
	} else if token := v.Get("nextToken").Str(); token != "" { // Bedrock
		next.Set("nextToken", token)
	} else if last := v.Get("last_id").Str(); last != "" && loose.True(v.Get("has_more")) { // Anthropic
		next.Set("after_id", last)
	}
	switch {
	case len(next) == 0:
		return ""
	case strings.Contains(address, "?"):
		return address + "&" + next.Encode()
	}
	return address + "?" + next.Encode()
}

// list reads one page.
func (p *provider) list(ctx context.Context, x *exchange, address string) (engine.Value, *refusal, error) {
	req, err := p.newRequest(ctx, http.MethodGet, address, nil)
	if err != nil {
		return engine.Null, nil, err
	}
	res, refused, err := answered(x, req)
	if refused != nil || err != nil {
		return engine.Null, refused, err
	}
	defer res.Body.Close() //nolint:errcheck // the answer was read
	data, err := io.ReadAll(io.LimitReader(res.Body, maxListBytes+1))
	switch {
	case err != nil:
		return engine.Null, nil, broken(ctx, err)
	case len(data) > maxListBytes:
		return engine.Null, nil, fmt.Errorf("%w: the list of models has more than %d MiB", ErrTooLarge,
			maxListBytes>>20)
	}
	v, err := engine.ParseJSON(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		text := "the response has no list of models; check base_url: " + firstWords(data)
		return engine.Null, &refusal{text: text}, nil
	}
	if refused := (&document{value: v}).reported(); refused != nil {
		return engine.Null, refused, nil
	}
	return v, nil, nil
}

// offersOf reads a list in one of the forms that servers use: {"data": [...]}, {"models": [...]}
// and others, or the list itself, of objects or names.
func offersOf(v engine.Value) (offers []Offer) {
	list := v
	for _, name := range [...]string{"data", "models", "result", "modelSummaries", "inferenceProfileSummaries"} {
		if list.Kind() != engine.KindList && v.Get(name).Kind() == engine.KindList {
			list = v.Get(name)
		}
	}
	for _, m := range list.Elements() {
		if o, ok := offerOf(m); ok {
			offers = append(offers, o)
		}
	}
	return offers
}

// offerOf reads one model; ok is false if it has no name or is of a kind that canvases do not use.
func offerOf(m engine.Value) (o Offer, ok bool) {
	if m.Kind() == engine.KindString {
		m = engine.Object("id", m)
	}
	for _, name := range [...]string{"id", "name", "model", "modelId", "inferenceProfileId"} {
		if o.Name == "" && m.Get(name).Kind() == engine.KindString {
			o.Name = strings.TrimPrefix(m.Get(name).Str(), "models/")
		}
	}
	if o.Kind, ok = kindOf(o.Name, m); !ok || !isName(o.Name) {
		return o, false
	}
	o.Context = contextOf(m)
	capabilities := m.Get("capabilities")
	o.Tools = firstKnown(flagOf(m.Get("supported_parameters"), "tools"), flagOf(m.Get("features"), "tools"),
		flagOf(capabilities, "function_calling"), flagOf(capabilities, "tool_use"), flagOf(capabilities, "tools"))
	o.Images = firstKnown(flagOf(m.Get("architecture").Get("input_modalities"), "image"),
		flagOf(m.Get("input_modalities"), "image"), flagOf(m.Get("inputModalities"), "IMAGE"),
		flagOf(capabilities, "vision"), flagOf(m, "supports_image_in"))
	o.Reasons = firstKnown(flagOf(m.Get("supported_parameters"), "reasoning"), flagOf(capabilities, "reasoning"),
		flagOf(m, "supports_reasoning"), flagOf(m, "thinking"))
	return o, true
}

// longestName bounds the name of a model or a provider, in bytes.
const longestName = 200

// isName reports whether a text can be the name of a model or a provider.
func isName(text string) bool {
	return strings.TrimSpace(text) != "" && len(text) <= longestName && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// kindOf returns the purpose of a listed model by the facts of the list, or else by its name; ok is
// false for other kinds.
func kindOf(name string, m engine.Value) (kind Kind, ok bool) {
	methods := m.Get("supportedGenerationMethods") // Gemini
	if methods.Kind() == engine.KindList {
		switch {
		case *flagOf(methods, "generateContent"):
			return KindChat, true
		case *flagOf(methods, "embedContent"):
			return KindEmbedding, true
		}
		return "", false
	}
	switch strings.ToLower(m.Get("type").Str()) {
	case "embedding", "embeddings":
		return KindEmbedding, true
	case "rerank", "reranker":
		return KindRerank, true
	case "transcribe", "stt":
		return KindTranscription, true
	case "moderation", "image", "video":
		return "", false
	}
	if modes := m.Get("outputModalities"); modes.Kind() == engine.KindList && !*flagOf(modes, "TEXT") { // Bedrock
		return "", false
	}
	name = strings.ToLower(name)
	contains := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	}
	switch {
	case contains("rerank"):
		return KindRerank, true
	case contains("whisper", "transcribe"):
		return KindTranscription, true
	case contains("moderation", "dall-e"):
		return "", false
	case contains("embed", "bge-", "gte-", "-e5-"):
		return KindEmbedding, true
	case strings.HasPrefix(name, "tts-"), strings.HasSuffix(name, "-tts"):
		return KindSpeech, true
	}
	return KindChat, true
}

// contextOf returns the context of a listed model in tokens; 0 if the list has none.
func contextOf(m engine.Value) int {
	for _, name := range [...]string{
		"context_length", "context_window", "max_model_len", "max_context_length", "inputTokenLimit",
		"max_input_tokens", "context_size",
	} {
		if n, ok := loose.Number(m.Get(name)); ok && n > 0 && n <= 1<<30 {
			return int(n)
		}
	}
	return 0
}

// flagOf returns whether a list contains a word, or an object has a true member of that name; nil
// for an object without the member.
func flagOf(v engine.Value, word string) *bool {
	found := false
	switch v.Kind() {
	case engine.KindList:
		for _, x := range v.Elements() {
			found = found || x.Str() == word
		}
		return &found
	case engine.KindObject:
		if x := v.Get(word); x.Kind() == engine.KindBool {
			found = x.True()
			return &found
		}
	}
	return nil
}

// firstKnown returns the first value that is true, or else the first one that is known.
func firstKnown(values ...*bool) (known *bool) {
	for _, v := range values {
		if v != nil && (known == nil || *v) {
			known = v
		}
	}
	return known
}
