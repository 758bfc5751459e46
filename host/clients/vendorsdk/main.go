// Command vendorsdk reads requests of model APIs with the types of the vendors' clients for Go.
// Standard input is {API: [body]}; the output lists what a client does not know.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/responses"
	"google.golang.org/genai"
)

// generate is a request of Gemini's generateContent; its client has a type for each member only.
type generate struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
}

func main() {
	log.SetFlags(0)
	var requests map[string][]json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		log.Fatal("vendorsdk: ", err)
	}
	faults := []string{}
	for api, bodies := range requests {
		for i, body := range bodies {
			for _, fault := range read(api, body) {
				faults = append(faults, fmt.Sprintf("%s, request %d: %s", api, i, fault))
			}
		}
	}
	slices.Sort(faults)
	if err := json.NewEncoder(os.Stdout).Encode(faults); err != nil {
		log.Fatal("vendorsdk: ", err)
	}
}

// read returns the members of a request that its client loses, and why it cannot read it.
func read(api string, body []byte) []string {
	switch api {
	case "anthropic":
		return through(&anthropic.MessageNewParams{}, body)
	case "gemini":
		return through(&generate{}, body)
	case "responses":
		rest, faults := withoutAnswers(body)
		return append(faults, through(&responses.ResponseNewParams{}, rest)...)
	}
	return []string{"unknown API"}
}

// withoutAnswers checks the answers of the model among the input, and returns the rest: the client
// takes them for messages of another kind when it reads a list.
func withoutAnswers(body []byte) (rest []byte, faults []string) {
	var request map[string]json.RawMessage
	var input []json.RawMessage
	if err := errors.Join(json.Unmarshal(body, &request), json.Unmarshal(request["input"], &input)); err != nil {
		return body, []string{err.Error()}
	}
	input = slices.DeleteFunc(input, func(item json.RawMessage) bool {
		answer := bytes.Contains(item, []byte(`"output_text"`))
		if answer {
			faults = append(faults, through(&responses.ResponseOutputMessageParam{}, item)...)
		}
		return answer
	})
	list, err := json.Marshal(input)
	request["input"] = list
	rest, again := json.Marshal(request)
	if err := errors.Join(err, again); err != nil {
		faults = append(faults, err.Error())
	}
	return rest, faults
}

// through decodes a body and encodes it again.
func through(into any, body []byte) []string {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return []string{err.Error()}
	}
	again, err := json.Marshal(into)
	if err != nil {
		return []string{err.Error()}
	}
	var sent, known any
	if err := errors.Join(json.Unmarshal(body, &sent), json.Unmarshal(again, &known)); err != nil {
		return []string{err.Error()}
	}
	if object, ok := sent.(map[string]any); ok {
		delete(object, "stream") // the clients add it when they send
	}
	return lost("", sent, known)
}

// lost compares a value with what the client made of it.
func lost(at string, sent, known any) (list []string) {
	switch sent := sent.(type) {
	case map[string]any:
		object, _ := known.(map[string]any)
		for name, v := range sent {
			if other, ok := object[name]; ok {
				list = append(list, lost(at+"."+name, v, other)...)
			} else {
				list = append(list, at+"."+name+" is not known")
			}
		}
	case []any:
		items, _ := known.([]any)
		if len(items) != len(sent) {
			return []string{fmt.Sprintf("%s has %d items, and %d are known", at, len(sent), len(items))}
		}
		for i, v := range sent {
			list = append(list, lost(fmt.Sprintf("%s[%d]", at, i), v, items[i])...)
		}
	default:
		if !reflect.DeepEqual(sent, known) {
			list = append(list, fmt.Sprintf("%s is read as %v, not %v", at, known, sent))
		}
	}
	return list
}
