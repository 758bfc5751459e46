package embedding

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// Fit sends texts to a server of which neither the batch size nor the length of a text is known.
type Fit struct {
	Send    func(texts []string) ([][]float32, error)
	Refusal func(err error) (status int, reason string) // of an error of Send
	Learn   func(batch int)                             // takes the number of texts that the server accepts
}

// Embed returns the vectors of texts, or of the first of them if the server takes fewer at a time.
// A text that is longer than the model takes is cut; see [WithCuts]. first is the number of the
// first text.
func (f *Fit) Embed(ctx context.Context, texts []string, first int) ([][]float32, error) {
	for cuts := 0; ; {
		vectors, err := f.Send(texts)
		if err == nil {
			return vectors, nil
		}
		status, reason := f.Refusal(err)
		if !tooMuch(status, reason) {
			return nil, err
		}
		if len(texts) > 1 {
			n, learned := fewer(reason, len(texts))
			if learned {
				f.Learn(n)
			}
			texts = texts[:n]
			continue
		}
		shorter := shortened(texts[0], reason)
		if cuts++; cuts > maxCuts || shorter == "" {
			return nil, err
		}
		if report, ok := ctx.Value(cutsKey{}).(func(int, int)); ok {
			report(first, len(shorter))
		}
		texts = []string{shorter}
	}
}

// maxCuts bounds how often one text is cut.
const maxCuts = 12

type cutsKey struct{}

// WithCuts returns a context in which embedding calls report each text that was cut because it is
// longer than the model takes: its number and the bytes that were embedded. A text may be reported
// more than once, each time with fewer bytes.
func WithCuts(ctx context.Context, report func(text, bytes int)) context.Context {
	return context.WithValue(ctx, cutsKey{}, report)
}

var (
	batchWords = regexp.MustCompile(`(?i)batch|at most \d+ items|too many|number of (inputs|texts)|array.{0,` +
		`20}(long|large|length)|items? after validation|\d+条`)
	lengthWords = regexp.MustCompile(`(?i)context length|tokens|too long|length|too large|maximum ` +
		`(input|size)|exceed`)
)

// tooMuch reports whether a server refused a request because of its size.
func tooMuch(status int, text string) bool {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return batchWords.MatchString(text) || lengthWords.MatchString(text)
	}
	return false
}

var digits = regexp.MustCompile(`\d+`)

// fewer returns how many of n texts to send after a refusal. learned is true if the server speaks
// of the number of texts; it often names the limit.
func fewer(text string, n int) (most int, learned bool) {
	if batchWords.MatchString(text) {
		for _, d := range digits.FindAllString(text, -1) {
			if v, err := strconv.Atoi(d); err == nil && v > 0 && v < n {
				most = max(most, v)
			}
		}
		if most > 0 {
			return most, true
		}
	}
	return n / 2, batchWords.MatchString(text)
}

// shortened returns the start of a text that is too long, by the numbers in the refusal if it has a
// limit and a length; "" if nothing is left.
func shortened(text, refusal string) string {
	share := 0.5
	var numbers []float64
	for _, d := range digits.FindAllString(refusal, -1) {
		if v, err := strconv.ParseFloat(d, 64); err == nil && v >= 64 {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) > 1 && numbers[0] < numbers[1] {
		share = max(share/4, numbers[0]/numbers[1]*0.95)
	}
	n := int(float64(len(text)) * share)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
