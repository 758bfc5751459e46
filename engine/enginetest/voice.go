package enginetest

import "context"

// voiceMark begins every sound of the scripted voice.
const voiceMark = "tts:"

// Voice is an engine.Voice whose sound is the bytes of "tts:" and the text.
type Voice struct{}

// Speak returns the sound of a text.
func (Voice) Speak(ctx context.Context, text string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return []byte(voiceMark + text), nil
}
