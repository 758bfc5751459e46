package model

import (
	"context"
	"errors"
	"fmt"
	"io"

	openai "github.com/sashabaranov/go-openai"

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
		res, err := p.newClient(x).CreateSpeech(ctx, openai.CreateSpeechRequest{
			Model: openai.SpeechModel(model), Input: text, Voice: openai.SpeechVoice(voice),
			ResponseFormat: openai.SpeechResponseFormatMp3,
		})
		if err != nil {
			return err
		}
		defer res.Close()
		received()
		if sound, err = io.ReadAll(res); err != nil {
			return broken(ctx, err)
		}
		if len(sound) == 0 {
			return ErrEmpty
		}
		return nil
	})
	return sound, err
}

// maxTexts bounds the texts per embedding request; servers accept at least this many.
const maxTexts = 64

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

// embedBy is embed with a chosen model.
func (m *Models) embedBy(
	ctx context.Context, p *provider, name string, texts []string,
) (out [][]float32, tokens int64, err error) {
	out = make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), maxTexts)
		vectors, used, err := m.embedSome(ctx, p, name, texts[:n])
		if err != nil {
			return nil, tokens, err
		}
		out, texts, tokens = append(out, vectors...), texts[n:], sum(tokens, used)
	}
	return out, tokens, nil
}

// embedSome makes one embedding request once it may be made.
func (m *Models) embedSome(
	ctx context.Context, p *provider, model string, texts []string,
) (vectors [][]float32, tokens int64, err error) {
	p, turn, err := m.enter(ctx, p, model, tokensOf(texts), nil)
	if err != nil {
		return nil, 0, err
	}
	defer func() { turn.Leave(tokens) }()
	return p.embed(ctx, model, texts)
}

// tokensOf estimates the tokens of texts.
func tokensOf(texts []string) (n int64) {
	for _, text := range texts {
		n = sum(n, int64(engine.Tokens(text)))
	}
	return n
}

// embed sends one embedding request and returns the tokens used.
func (p *provider) embed(ctx context.Context, model string, texts []string) (vectors [][]float32, tokens int64,
	err error,
) {
	vectors = make([][]float32, len(texts))
	err = p.exchange(ctx, model, func(ctx context.Context, x *exchange, _ func()) error {
		res, err := p.newClient(x).CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
			Input: texts, Model: openai.EmbeddingModel(model), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
		})
		if err != nil {
			return notJSON(err)
		}
		tokens = reported(res.Usage.PromptTokens, res.Usage.CompletionTokens)
		for _, e := range res.Data {
			if e.Index < 0 || e.Index >= len(vectors) || len(e.Embedding) == 0 {
				return fmt.Errorf("vector %d of %d texts: %w", e.Index, len(texts), errNoVectors)
			}
			vectors[e.Index] = e.Embedding
		}
		for i, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				return fmt.Errorf("text %d of %d: %w", i, len(texts), errNoVectors)
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if tokens == 0 {
		tokens = tokensOf(texts)
	}
	return vectors, tokens, nil
}

// errNoVectors means that a response does not have one vector of the same size per text.
var errNoVectors = errors.New("the answer has not one vector of the same size for each text")

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
