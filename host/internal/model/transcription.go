package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// transcriptionPath is the path of transcriptions below the base URL.
const transcriptionPath = "/audio/transcriptions"

// MaxRecording bounds a recording, in bytes; it is below the limit of every known server.
const MaxRecording = 10 << 20

// recordings are the types of recordings that servers accept, with the extension by which they
// recognize them.
var recordings = map[string]string{
	"audio/webm": "webm", "video/webm": "webm", "audio/ogg": "ogg", "audio/mp4": "m4a", "video/mp4": "mp4",
	"audio/mpeg": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/flac": "flac",
}

// ErrRecording means that a recording is empty, too large or of another type.
var ErrRecording = errors.New("the recording cannot be used")

// Recording is speech to be transcribed.
type Recording struct {
	Type  string // media type without parameters
	Bytes []byte
}

// check returns the name under which a recording is sent.
func (r Recording) check() (name string, err error) {
	extension, ok := recordings[strings.ToLower(r.Type)]
	switch {
	case !ok:
		return "", fmt.Errorf("%w: type %.40q is not one of webm, ogg, mp4, mpeg, wav, flac", ErrRecording, r.Type)
	case len(r.Bytes) == 0:
		return "", fmt.Errorf("%w: it is empty", ErrRecording)
	case len(r.Bytes) > MaxRecording:
		return "", fmt.Errorf("%w: it is larger than %d MiB", ErrRecording, MaxRecording>>20)
	}
	return "recording." + extension, nil
}

// Transcribe converts speech to text. Servers report seconds for it and no tokens, so it is not
// counted. Errors: [ErrUnknownModel] without a model for it, [ErrRecording], those of the caller's
// [Account].
func (t *Tenant) Transcribe(ctx context.Context, r Recording) (string, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return "", err
	}
	if err := t.account.Allow(ctx); err != nil {
		return "", err
	}
	return m.transcribe(ctx, r)
}

func (m *Models) transcribe(ctx context.Context, r Recording) (string, error) {
	name, err := r.check()
	if err != nil {
		return "", err
	}
	p, model, err := m.resolve("", KindTranscription)
	if err != nil {
		return "", err
	}
	p, turn, err := m.enter(ctx, p, model, 0, nil)
	if err != nil {
		return "", err
	}
	defer turn.Leave(0)
	return p.transcribe(ctx, model, name, r.Bytes)
}

func (p *provider) transcribe(ctx context.Context, model, name string, sound []byte) (text string, err error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, field := range [...][2]string{{"model", model}, {"response_format", "json"}} {
		if err := w.WriteField(field[0], field[1]); err != nil {
			return "", err
		}
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		return "", err
	}
	if _, err := part.Write(sound); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	err = p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
		to := target{model: model, path: transcriptionPath, content: w.FormDataContentType()}
		res, refused, err := p.reach(ctx, x, to, form.Bytes(), nil)
		switch {
		case err != nil:
			return err
		case refused != nil:
			return refused
		}
		defer res.Body.Close() //nolint:errcheck // the answer was read
		received()
		answer, err := io.ReadAll(io.LimitReader(res.Body, maxListBytes+1))
		switch {
		case err != nil:
			return broken(ctx, err)
		case len(answer) > maxListBytes:
			return fmt.Errorf("%w: the text has more than %d MiB", ErrTooLarge, maxListBytes>>20)
		}
		v, err := engine.ParseJSON(answer)
		if err != nil || v.Get("text").Kind() != engine.KindString {
			if refused := (&document{value: v}).reported(); err == nil && refused != nil {
				return refused
			}
			return &refusal{text: "the response is without a transcript; check base_url: " + firstWords(answer)}
		}
		text = strings.TrimSpace(v.Get("text").Str())
		return nil
	})
	return text, err
}

// silence is a WAV file with a tenth of a second of silence, to test a model with.
func silence() []byte {
	const rate, samples = 8000, 800
	le := func(n, size int) (out []byte) {
		for range size {
			out = append(out, byte(n))
			n >>= 8
		}
		return out
	}
	head := [][]byte{
		[]byte("RIFF"), le(36+2*samples, 4), []byte("WAVEfmt "), le(16, 4), le(1, 2), le(1, 2), le(rate, 4),
		le(2*rate, 4), le(2, 2), le(16, 2), []byte("data"), le(2*samples, 4), make([]byte, 2*samples),
	}
	return bytes.Join(head, nil)
}
