package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// GoName matches words of Go's runtime and packages.
var GoName = regexp.MustCompile(`Go (?:struct|value)|\bstrconv\b|\bjson: |UnmarshalJSON|parsing time|\bof type \S*(?:int|float|string|struct|map|\[)|` +
	`\b(?:url|net|http|json|time|os|io|errors|engine|store|api|runs|runlog|broker|plugin)\.[A-Z]\w+|\bu?int(?:8|16|32|64)\b|float64|map\[string\]|interface ?\{|\bv2[A-Z]\w+`)

// keyInput is an example of a body of easel's own API.
type keyInput struct{ Name string }

func TestErrorsWithoutGoNames(t *testing.T) {
	var n struct{ A struct{ B int8 } }
	wrongType := json.Unmarshal([]byte(`{"A":{"B":"x"}}`), &n)
	wrongValue := json.Unmarshal([]byte(`[]`), new(keyInput))
	_, wrongNumber := strconv.ParseInt("x\"y", 10, 64)
	_, wrongRange := strconv.Atoi("99999999999999999999")
	_, wrongTime := time.Parse(time.RFC3339, "x")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("a: %w", wrongType), "a: argument A.B cannot be of the kind string"},
		{wrongValue, "a value of the kind array is not accepted here"},
		{fmt.Errorf("rate: %w", wrongNumber), `rate: "x\"y" is not accepted here`},
		{wrongRange, `"99999999999999999999" is out of range`},
		{wrongTime, `a time must look like 1970-01-01T00:00:00Z, not "x"`},
		{fmt.Errorf("failed with %T", &url.Error{}), "failed with error"},
		{fmt.Errorf("%T: %w", &net.OpError{}, errors.New("refused")), "error: refused"},
		{errors.New("what json says: a canvas of api.example.com"), "what json says: a canvas of api.example.com"},
	} {
		require.Equal(t, c.want, WithoutGoNames(c.err.Error()))
		f, _ := AsFailure(c.err)
		require.NotRegexp(t, GoName, f.plain().Message)
	}
	f := Failed(KindBadRequest, "%s", wrongNumber)
	require.NotSame(t, f, f.plain(), "a failure may be shared")
	require.Equal(t, http.StatusBadRequest, StatusFor(f, f).HTTP)
}

// Every kind has a status and a code of the vocabulary.
func TestKindsHaveCodes(t *testing.T) {
	known := map[string]bool{}
	for _, group := range engine.Codes() {
		for _, term := range group.Codes {
			known[term.Word] = true
		}
	}
	for _, k := range Kinds() {
		require.True(t, known[k.Code()], "kind %d: code %q is not in engine.Codes", k, k.Code())
		require.GreaterOrEqual(t, k.HTTP(), 400, k.Code())
		require.NotEmpty(t, http.StatusText(k.HTTP()), k.Code())
	}
}

// A name that is taken is a conflict, not a missing record.
func TestExistingRecordIsAConflict(t *testing.T) {
	err := fmt.Errorf("create: %w", app.ErrExists)
	f, internal := AsFailure(err)
	require.False(t, internal)
	require.Equal(t, &Status{http.StatusConflict, "exists", "It already exists."}, StatusFor(f, err))
}
