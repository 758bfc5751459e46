package v2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
)

// maxSpoken bounds a text to be spoken, in characters: the limit of OpenAI's servers.
const maxSpoken = 4096

// voice converts between speech and text for a chat, by the models of the tenant.
type voice struct{ *app.Services }

func (v voice) operations() []operation {
	return []operation{
		handle(operation{
			method: "POST", path: "/api/v2/models/speech", body: api.BodySmall, scope: app.ScopeRun, name: "speak",
			media: "audio/mpeg",
			about: "Speak a text of at most 4,096 characters with the speech model of the tenant.",
		}, v.speak),
		handle(operation{
			method: "POST", path: "/api/v2/models/transcription", body: api.BodyUpload, scope: app.ScopeRun,
			name: "transcribe", form: fileForm,
			about: "Write down the speech of the first file of a form, a recording of at most 10 MiB (webm, ogg, " +
				"mp4, mpeg, wav or flac by its content type), with the transcription model of the tenant.",
		}, v.transcribe),
	}
}

type speak struct {
	Who  app.Principal
	Body struct {
		Text string `json:"text"`
	}
}

func (v voice) speak(ctx context.Context, in speak) (api.File, error) {
	text := strings.TrimSpace(in.Body.Text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return api.File{}, badMember("text", "nothing to speak")
	case n > maxSpoken:
		return api.File{}, badMember("text", "%d characters; at most %d can be spoken at a time", n, maxSpoken)
	}
	sound, err := v.Models.Of(in.Who.Tenant, in.Who.Caller).Speak(ctx, text)
	if err == nil && sound == nil {
		err = model.ErrUnknownModel
	}
	return api.File{
		Name: "speech.mp3", Type: "audio/mpeg", Size: int64(len(sound)), Content: io.NopCloser(bytes.NewReader(sound)),
	}, voiceFailure(ctx, err, "speech")
}

// voiceFailure is the error of a call of a model, of which the tenant may have none.
func voiceFailure(ctx context.Context, err error, kind string) error {
	var known *app.Error
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &known):
		return err
	case errors.Is(err, model.ErrRecording):
		return badMember("file", "%s", err)
	case errors.Is(err, model.ErrUnknownModel):
		message := "no " + kind + " model is set; add one of kind " + kind + " to a provider"
		return &api.Status{HTTP: http.StatusConflict, Code: "model_not_found", Message: message}
	}
	return &api.Status{HTTP: http.StatusBadGateway, Code: "provider_unreachable", Message: err.Error()}
}

type transcribe struct {
	Who     app.Principal
	Request *api.Request
}

type transcript struct {
	Text string `json:"text" jsonschema:"what was said; empty for silence"`
}

func (v voice) transcribe(ctx context.Context, in transcribe) (transcript, error) {
	form, err := formOf(in.Request)
	if err != nil {
		return transcript{}, err
	}
	recording, err := recordingOf(in.Request, form)
	in.Request.EndBodyTime()
	if err != nil {
		form.Discard()
		return transcript{}, uploadFailure(err)
	}
	text, err := v.Models.Of(in.Who.Tenant, in.Who.Caller).Transcribe(ctx, recording)
	return transcript{text}, voiceFailure(ctx, err, "transcription")
}

// recordingCopies are the copies of a recording besides the text of its form: its bytes, and the
// form that is sent, which grows to twice its size.
const recordingCopies = 3

// recordingOf reads the first file of a form, and reserves its memory until it has been sent.
func recordingOf(r *api.Request, form *api.FormReader) (out model.Recording, err error) {
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return out, badMember("file", "the form has no file named file")
		}
		if err != nil {
			return out, err
		}
		if part.FormName() != "file" {
			continue
		}
		out.Type, _, _ = mime.ParseMediaType(part.Header.Get("Content-Type"))
		sound, err := form.Text(io.LimitReader(part, model.MaxRecording+1))
		if err == nil {
			err = r.Reserve(recordingCopies * int64(len(sound)))
		}
		if err == nil {
			out.Bytes = []byte(sound)
		}
		return out, err
	}
}
