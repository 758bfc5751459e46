package modeltest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
)

// Embedder is the shape of a server of embeddings. The vector of a text is [Vector].
type Embedder struct {
	Name    string
	Batch   int    // texts of one request; 0 means any number
	Length  int    // bytes of one text; 0 means any number
	Status  int    // of a refusal
	Refusal string // its body
	Shuffle bool   // vectors in reverse order
	Base64  bool   // vectors as base64, whatever is asked for
	Few     bool   // the last vector is missing
	NoIndex bool
	Format  bool // encoding_format is refused
	Floats  bool // usage as fractions
	Fails   string
}

// Embedders returns the shapes of embeddings.
func Embedders() []Embedder {
	return []Embedder{
		{Name: "plain"},
		{Name: "usage as fractions", Floats: true},
		{
			Name: "at most 10 texts (400)", Batch: 10, Status: 400,
			Refusal: `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Value error,` +
				` batch size is invalid, it should not be larger than 10.: input.contents",` +
				`"type":"InvalidParameter"}}`,
		},
		{
			Name: "at most 32 texts (413)", Batch: 32, Status: 413,
			Refusal: `{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}`,
		},
		{Name: "at most 20 texts (422)", Batch: 20, Status: 422, Refusal: `{"detail":[{"loc":["body","input"],` +
			`"msg":"List should have at most 20 items after validation, not 64"}]}`},
		{
			Name: "at most 7 texts, without a number (400)", Batch: 7, Status: 400,
			Refusal: `{"message":"input array too long"}`,
		},
		{
			Name: "a text that is too long (400)", Length: 4000, Status: 400,
			Refusal: `{"error":{"message":"This model's maximum context length is 8192 tokens,` +
				` however you requested 10000 tokens","type":"invalid_request_error"}}`,
		},
		{
			Name: "a text that is too long (413)", Length: 1000, Status: 413,
			Refusal: "{\"error\":\"Input validation error: `inputs` must have less than 512 tokens. Given: " +
				"1400\",\"error_type\":\"Validation\"}",
		},
		{Name: "out of order", Shuffle: true},
		{Name: "base64", Base64: true},
		{Name: "encoding_format is refused", Format: true, Status: 422, Refusal: `{"detail":[{"loc":["body",` +
			`"encoding_format"],"msg":"Extra inputs are not permitted"}]}`},
		{Name: "no index", NoIndex: true},
		{Name: "a vector is missing", Few: true, Fails: "vector"},
	}
}

// Vector returns the vector of a text: its length, and 1.
func Vector(text string) []float32 { return []float32{float32(len(text)), 1} }

// ServeHTTP answers a request for embeddings.
func (e Embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input  []string `json:"input"`
		Format *string  `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	long := slices.ContainsFunc(in.Input, func(s string) bool { return e.Length > 0 && len(s) > e.Length })
	w.Header().Set("Content-Type", "application/json")
	if e.Batch > 0 && len(in.Input) > e.Batch || long || e.Format && in.Format != nil {
		w.WriteHeader(e.Status)
		_, _ = io.WriteString(w, e.Refusal)
		return
	}
	var data []string
	for i, text := range in.Input {
		if e.Few && i > 0 && i == len(in.Input)-1 {
			break
		}
		data = append(data, e.entry(i, Vector(text)))
	}
	if e.Shuffle {
		slices.Reverse(data)
	}
	used := "7"
	if e.Floats {
		used = "7.0"
	}
	_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{"prompt_tokens":%s,"total_tokens":%s}}`,
		strings.Join(data, ","), used, used)
}

func (e Embedder) entry(i int, v []float32) string {
	index := fmt.Sprintf(`"index":%d,`, i)
	if e.NoIndex {
		index = ""
	}
	if !e.Base64 {
		return fmt.Sprintf(`{"object":"embedding",%s"embedding":[%g,%g]}`, index, v[0], v[1])
	}
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return fmt.Sprintf(`{"object":"embedding",%s"embedding":"%s"}`, index, base64.StdEncoding.EncodeToString(b))
}
