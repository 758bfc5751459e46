package mail

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Files opens attachments: references to uploads and to files that nodes made.
type Files func(ctx context.Context, file engine.Value) (Attachment, error)

// Call runs an Email node. Without a recipient nothing is sent and success is false. Params must
// hold no placeholders of secrets any more.
func (s *Sender) Call(ctx context.Context, params, arguments engine.Value, files Files) (engine.Value, error) {
	to := split(arguments.Get("to_email").Text())
	if len(to) == 0 {
		return engine.Object("success", false), nil
	}
	settings, err := settingsOf(params)
	if err != nil {
		return engine.Value{}, err
	}
	m := &Message{
		To: to, CC: split(arguments.Get("cc_email").Text()),
		Subject: textOr(arguments, "subject", "No Subject"), HTML: textOr(arguments, "content", "No Content"),
	}
	for _, file := range arguments.Get("attachments").Slice() {
		if files == nil {
			return engine.Value{}, fmt.Errorf("attachments: %w", engine.ErrNoPort)
		}
		a, err := files(ctx, file)
		if err != nil {
			return engine.Value{}, fmt.Errorf("attachment: %w", err)
		}
		m.Attachments = append(m.Attachments, a)
	}
	if err := s.Send(ctx, &settings, m); err != nil {
		return engine.Value{}, err
	}
	return engine.Object("success", true), nil
}

func settingsOf(params engine.Value) (Settings, error) {
	s := Settings{
		Server: strings.TrimSpace(params.Get("smtp_server").Text()), From: params.Get("email").Text(),
		Name: params.Get("sender_name").
			Text(),
		User: params.Get("smtp_username").Text(), Password: params.Get("password").Text(),
	}
	if text := params.Get("smtp_port").Text(); text != "" {
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return s, fmt.Errorf("%w: smtp_port %q is not an integer from 1 to 65535", ErrSettings, text)
		}
		s.Port = port
	}
	return s, nil
}

// textOr returns an argument, or its default when it is absent.
func textOr(arguments engine.Value, name, absent string) string {
	if v, ok := arguments.Lookup(name); ok {
		return v.Text()
	}
	return absent
}

// split separates addresses at commas; empty ones are left out. A comma inside of quotes belongs to
// a name.
func split(list string) []string {
	var out []string
	begin, quoted := 0, false
	add := func(end int) {
		if a := strings.TrimSpace(list[begin:end]); a != "" {
			out = append(out, a)
		}
		begin = end + 1
	}
	for i := range len(list) {
		switch {
		case list[i] == '"':
			quoted = !quoted
		case list[i] == ',' && !quoted:
			add(i)
		}
	}
	add(len(list))
	return out
}
