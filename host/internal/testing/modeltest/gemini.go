package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// geminiForm is Google's generateContent. Source: the types of google.golang.org/genai 1.77.
var geminiForm = Form{Name: "gemini", check: checkGemini, write: writeGemini}

type geminiRequest struct {
	Contents []geminiContent `json:"contents"`
	System   *geminiContent  `json:"systemInstruction"`
	Tools    []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Temperature      *float64        `json:"temperature"`
		TopP             *float64        `json:"topP"`
		MaxOutputTokens  int             `json:"maxOutputTokens"`
		StopSequences    []string        `json:"stopSequences"`
		PresencePenalty  *float64        `json:"presencePenalty"`
		FrequencyPenalty *float64        `json:"frequencyPenalty"`
		MIMEType         string          `json:"responseMimeType"`
		Schema           json.RawMessage `json:"responseJsonSchema"`
		Thinking         *struct {
			IncludeThoughts bool   `json:"includeThoughts"`
			Budget          *int   `json:"thinkingBudget"`
			Level           string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature []byte  `json:"thoughtSignature"`
	Call      *struct {
		ID   string                     `json:"id"`
		Name string                     `json:"name"`
		Args map[string]json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Data *struct {
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
	} `json:"inlineData"`
	File *struct {
		MIMEType string `json:"mimeType"`
		URI      string `json:"fileUri"`
	} `json:"fileData"`
}

func checkGemini(r *http.Request, body []byte) (streamed bool, err error) {
	var in geminiRequest
	if err := strictly(body, &in); err != nil {
		return false, err
	}
	streamed = r.URL.Path == "/v1beta/models/m:streamGenerateContent" && r.URL.RawQuery == "alt=sse"
	switch {
	case r.Method != http.MethodPost || !streamed && r.URL.Path != "/v1beta/models/m:generateContent":
		return false, fmt.Errorf("%s %s", r.Method, r.URL)
	case r.Header.Get("x-goog-api-key") == "" || r.Header.Get("Authorization") != "":
		return false, errors.New("x-goog-api-key is missing")
	case len(in.Contents) == 0:
		return false, errors.New("contents is not specified")
	case len(in.Config.Schema) > 0 && in.Config.MIMEType != "application/json":
		return false, errors.New("a schema requires responseMimeType")
	}
	return streamed, in.checkContents()
}

func (in *geminiRequest) checkContents() error {
	role := "user"
	var open, ids []string
	last := 0 // the last content with a question
	for i, c := range in.Contents {
		if c.Role == "user" && len(c.Parts) > 0 && c.Parts[0].Result == nil {
			last = i
		}
	}
	for i, c := range in.Contents {
		if c.Role != role || len(c.Parts) == 0 {
			return fmt.Errorf("contents[%d]: role %q and %d parts, expected role %q", i, c.Role, len(c.Parts), role)
		}
		var calls, callIDs []string
		results := 0
		for k, p := range c.Parts {
			switch {
			case p.Call != nil && c.Role == "model":
				if i > last && len(calls) == 0 && len(p.Signature) == 0 {
					return fmt.Errorf("contents[%d]: function call is missing a thought_signature", i)
				}
				calls, callIDs = append(calls, p.Call.Name), append(callIDs, p.Call.ID)
			case p.Result != nil && c.Role == "user":
				if k >= len(open) || open[k] != p.Result.Name || ids[k] != p.Result.ID || p.Result.Response == nil {
					return fmt.Errorf("contents[%d].parts[%d]: unexpected functionResponse", i, k)
				}
				results++
			case p.Data != nil && (p.Data.MIMEType == "" || len(p.Data.Data) == 0):
				return errors.New("inlineData is empty")
			case p.Text == nil && p.Data == nil && p.File == nil:
				return fmt.Errorf("contents[%d].parts[%d]: required oneof field 'data' is not initialized", i, k)
			}
		}
		if results != len(open) {
			return errors.New("the number of function response parts is not that of the function call parts")
		}
		if role, open, ids = "user", calls, callIDs; c.Role == "user" {
			role = "model"
		}
	}
	if len(open) > 0 {
		return errors.New("a function call without a response")
	}
	return nil
}

func writeGemini(reply Reply, streamed bool) string {
	reason := map[Finish]string{
		Done: "STOP", Length: "MAX_TOKENS", Refused: "SAFETY", Paused: "STOP", Malformed: "MALFORMED_FUNCTION_CALL",
	}[reply.Finish]
	var parts []string
	sign := reply.Signature
	signed := func(part string) {
		if sign != "" {
			part += `,"thoughtSignature":` + quoted(sign)
		}
		sign = ""
		parts = append(parts, part)
	}
	add := func(text, more string) {
		a, b := halves(text)
		for _, half := range []string{a, b} {
			if half != "" {
				parts = append(parts, `"text":`+quoted(half)+more)
			}
		}
	}
	add(reply.Thought, `,"thought":true`)
	add(reply.Text, "")
	for i, c := range reply.Calls {
		id := ""
		if reply.Redacted != "" { // this reply has ids
			id = fmt.Sprintf(`"id":"f%d",`, i)
		}
		signed(`"functionCall":{` + id + `"name":` + quoted(c.Name) + `,"args":` + c.Arguments + `}`)
	}
	if sign != "" {
		signed(`"text":""`)
	}
	usage := fmt.Sprintf(`"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,`+
		`"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":99}`,
		FreshTokens+CachedTokens+WrittenTokens, CachedTokens, TextTokens, ThoughtTokens)
	end := fmt.Sprintf(`,"finishReason":%q,"finishMessage":%s`, reason, quoted(reply.Why))
	if !streamed {
		return `{"candidates":[{"content":{"role":"model","parts":[{` + strings.Join(parts, "},{") +
			`}]},"index":0` + end +
			`}],` + usage + `,"modelVersion":"m"}`
	}
	var events []string
	for _, p := range parts {
		events = append(events, `{"candidates":[{"content":{"role":"model","parts":[{`+p+`}]},"index":0}],`+
			`"usageMetadata":{"promptTokenCount":9},"modelVersion":"m"}`)
	}
	return sse(append(events, `{"candidates":[{"content":{"parts":[]}`+end+`}],`+usage+`}`)...)
}
