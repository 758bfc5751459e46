package model

import (
	"context"
	"errors"
	"io"

	"github.com/easel-canvas/easel/engine"
)

var _ engine.Voice = (*Models)(nil)

// defaultVoice is a voice that OpenAI and most compatible servers support.
const defaultVoice = "alloy"

// Speak converts text to speech, as MP3. Without a speech model it returns nil and no error.
func (m *Models) Speak(ctx context.Context, text string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.config.Speech == "" && !m.has(KindSpeech) {
		return nil, nil
	}
	p, name, err := m.resolve("", KindSpeech)
	if err != nil {
		return nil, err
	}
	voice := m.config.Voice
	if voice == "" {
		voice = defaultVoice
	}
	p, turn, err := m.enter(ctx, p, name, 0, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave(0)
	return p.speak(ctx, name, voice, text)
}

func (p *provider) speak(ctx context.Context, model, voice, text string) (sound []byte, err error) {
	err = p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
		body := func(l *Lesson) (body, params engine.Value) {
			body = l.apply(engine.Object("model", model, "input", text, "voice", voice, "response_format", "mp3"))
			return body, body
		}
		res, err := p.negotiated(ctx, x, target{model: model, path: "/audio/speech"}, body, nil)
		if err != nil {
			return err
		}
		defer res.Body.Close() //nolint:errcheck // the answer was read
		received()
		if sound, err = io.ReadAll(res.Body); err != nil {
			return broken(ctx, err)
		}
		if len(sound) == 0 {
			return ErrEmpty
		}
		if v, err := engine.ParseJSON(sound); err == nil {
			if refused := (&document{value: v}).reported(); refused != nil {
				return refused
			}
		}
		return nil
	})
	return sound, err
}

// Embed returns one embedding per text, in the same order. Errors: [ErrUnknownModel] if no
// embedding model is configured.
func (m *Models) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := m.embed(ctx, texts)
	return vectors, err
}

// EmbeddingModel returns the id of the embedding model; "" if none is configured.
func (m *Models) EmbeddingModel() (string, error) {
	p, name, err := m.resolve("", KindEmbedding)
	if errors.Is(err, ErrUnknownModel) && m.config.Embedding == "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return name + "@" + p.config.Label(), nil
}

// embed is Embed, but also returns the tokens used, even with an error.
func (m *Models) embed(ctx context.Context, texts []string) (out [][]float32, tokens int64, err error) {
	p, name, err := m.resolve("", KindEmbedding)
	if err != nil {
		return nil, 0, err
	}
	return m.embedBy(ctx, p, name, texts)
}

// has reports whether a model of the kind is listed.
func (m *Models) has(kind Kind) bool {
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() == kind {
				return true
			}
		}
	}
	return false
}
