package engine_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// vault has one secret.
type vault struct{}

func (vault) Secret(context.Context, string) (engine.Secret, error) {
	return engine.Secret{Value: "abcd-1234"}, nil
}

// TestErrorsHideSecrets lets a component quote the request it made, in its error.
func TestErrorsHideSecrets(t *testing.T) {
	reg := toys(t)
	require.NoError(t, reg.Add(engine.Spec{Name: "Leak", New: func() engine.Component {
		return worker(func(ctx context.Context, call *engine.Call) error {
			secret, err := call.Secret(ctx, "KEY")
			require.NoError(t, err)
			require.Equal(t, "abcd-1234", secret.Value)
			return fmt.Errorf("GET https://host/?key=%s: %w", secret.Value, engine.ErrRef)
		})
	}}))
	c, err := engine.Load(reg, sketch.Bytes(`begin Begin -> f`, `f Leak {}`))
	require.NoError(t, err)
	opt := engine.Options{Ports: engine.Ports{Secrets: vault{}}}
	requireHidden := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, engine.ErrRef)
		require.ErrorContains(t, err, "GET https://host/?key={{secret:KEY}}")
		require.NotContains(t, err.Error(), "abcd")
	}
	var failed error
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, opt) {
		if err != nil {
			failed = err
			break
		}
		require.NotContains(t, string(e.JSON), "abcd")
	}
	requireHidden(failed)
	out, err := c.Debug(t.Context(), c.State(), "f", engine.Null, opt)
	requireHidden(err)
	require.NotContains(t, out.JSON(), "abcd")
}

func TestMarkSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{{secret:A}}": "{{secret:A:m}}",
		"x{{secret:A}}y{{secret:a b}}": "x{{secret:A:m}}y{{secret:a b:m}}",
		"{{secret:}}":                  "{{secret:}}", "{{secret:A": "{{secret:A", "{{secret:A}": "{{secret:A}",
		"{{secret:A{{secret:B}}":    "{{secret:A{{secret:B:m}}",
		"{{base64:u:{{secret:A}}}}": "{{base64:u:{{secret:A:m}}}}",
		"{{secret:{{secret:A}}}}":   "{{secret:{{secret:A:m}}}}",
	} {
		marked := engine.MarkSecrets(text, "m")
		require.Equal(t, want, marked)
		require.Equal(t, want != text, engine.HasSecret(marked, "m"))
	}
}

func TestFillSecrets(t *testing.T) {
	value := func(name string) (string, error) {
		if name == "NONE" {
			return "", engine.ErrRef
		}
		return "<" + name + ">", nil
	}
	for text, want := range map[string]string{
		"a {{secret:A:m}} b {{secret:B:m}}":        "a <A> b <B>",
		"{{secret:A}} {{secret:A:n}} {{secret::}}": "{{secret:A}} {{secret:A:n}} {{secret::}}",
		"{{secret:X {{secret:A:m}}}}":              "{{secret:X <A>}}",
		":m}} {{secret:A:m}}":                      ":m}} <A>",
	} {
		got, err := engine.FillSecrets(text, "m", value)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := engine.FillSecrets("{{secret:NONE:m}}", "m", value)
	require.ErrorIs(t, err, engine.ErrRef)
	got, err := engine.FillSecrets("{{secret:A:}}", "", value)
	require.NoError(t, err)
	require.Equal(t, "{{secret:A:}}", got, "no mark, no secrets")
}

// TestSecretFormsHideEachForm has a value come back in every form.
func TestSecretFormsHideEachForm(t *testing.T) {
	const secret = `pä "ss"/+&w?rd`
	for name, form := range map[string]string{
		"raw": secret, "form": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"component":       strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		"JSON":            strings.Trim(engine.String(secret).JSON(), `"`),
		"base64":          base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"basic":           base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
	} {
		left := "x" + form + "y"
		for _, known := range engine.SecretForms(secret) {
			left = strings.ReplaceAll(left, known, "*")
		}
		require.Contains(t, left, "*", name)
		require.Less(t, len(left), 20, name)
	}
}

// FuzzSecrets marks and fills any text: a text that was not marked is never filled, and what was
// marked reads as before without its marks.
func FuzzSecrets(f *testing.F) {
	for _, text := range []string{
		"{{secret:A}}", "{{secret:{{secret:A}}}}", "{{secret:A:0}}", "{{sec", "ret:A}}",
		"{{base64:a:{{secret:A}}}}", "}}{{secret:",
	} {
		f.Add(text, text)
	}
	const mark = "0123456789abcdef0123456789abcdef"
	f.Fuzz(func(t *testing.T, config, outside string) {
		if strings.Contains(config+outside, mark) {
			return // a mark is random: a text from outside does not hold it
		}
		count := 0
		value := func(name string) (string, error) {
			count++
			if name == "" || strings.ContainsAny(name, "{}") {
				t.Errorf("a secret named %q", name)
			}
			return "", nil
		}
		if got, _ := engine.FillSecrets(outside, mark, value); got != outside || count > 0 {
			t.Errorf("%q was filled", outside)
		}
		marked := engine.MarkSecrets(config, mark)
		if engine.UnmarkSecrets(marked, mark) != config {
			t.Errorf("%q reads %q without its marks", config, engine.UnmarkSecrets(marked, mark))
		}
		_, _ = engine.FillSecrets(marked, mark, value)
		alone := count
		count = 0
		_, _ = engine.FillSecrets(outside+marked+outside, mark, value)
		if count != alone || alone != strings.Count(marked, mark) {
			t.Errorf("%q holds %d secrets, between %q it holds %d", config, alone, outside, count)
		}
	})
}

func TestEscapeSecret(t *testing.T) {
	const value = "\"a\\b\"&+% \n\""
	for contentType, want := range map[string]string{
		"application/json":                  `\"a\\b\"&+% \n\"`,
		"application/vnd.api+JSON; v=1":     `\"a\\b\"&+% \n\"`,
		"application/x-www-form-urlencoded": "%22a%5Cb%22%26%2B%25+%0A%22",
		"text/plain":                        value,
		"":                                  value,
	} {
		require.Equal(t, want, engine.EscapeSecret(contentType, value), contentType)
	}
}
