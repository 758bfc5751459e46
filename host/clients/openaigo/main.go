// Command openaigo queries agents with OpenAI's client for Go. It has the argument and the output
// of ../chat.mjs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"github.com/openai/openai-go"
	"github.com/openai/openai-go/option"
)

type agents struct{ Key, Echo, Failing, Asking, Nowhere string }

type outcome struct {
	Text    string   `json:"text"`
	Finish  string   `json:"finish"`
	Tokens  int64    `json:"tokens"`
	Created int64    `json:"created"`
	Error   *problem `json:"error,omitempty"`
}

type problem struct {
	Status  int    `json:"status"`
	Message string `json:"message"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("openaigo: one argument is required")
	}
	var a agents
	if err := json.Unmarshal([]byte(os.Args[1]), &a); err != nil {
		log.Fatal("openaigo: ", err)
	}
	all := func(ask func(client openai.Client, p openai.ChatCompletionNewParams) outcome) map[string]outcome {
		at := func(base, key string, message openai.ChatCompletionMessageParamUnion) outcome {
			client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(key))
			return ask(client, openai.ChatCompletionNewParams{
				Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{message},
			})
		}
		hi := openai.UserMessage("hi")
		return map[string]outcome{
			"echo": at(a.Echo, a.Key, openai.UserMessage("tea?")),
			"parts": at(a.Echo, a.Key, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("one"), openai.TextContentPart("two"),
			})),
			"asking": at(a.Asking, a.Key, hi), "failing": at(a.Failing, a.Key, hi),
			"nowhere": at(a.Nowhere, a.Key, hi), "unauthorized": at(a.Echo, "wrong", hi),
		}
	}
	out, err := json.Marshal(map[string]any{"whole": all(whole), "streamed": all(streamed)})
	if err != nil {
		log.Fatal("openaigo: ", err)
	}
	_, _ = os.Stdout.Write(out) // the reader detects truncated output
}

func whole(client openai.Client, p openai.ChatCompletionNewParams) outcome {
	c, err := client.Chat.Completions.New(context.Background(), p)
	if err != nil {
		return failed(err)
	}
	return of(c)
}

func streamed(client openai.Client, p openai.ChatCompletionNewParams) outcome {
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(context.Background(), p)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			return failed(errors.New("a chunk belongs to another completion"))
		}
	}
	if err := stream.Err(); err != nil {
		return failed(err)
	}
	return of(&all.ChatCompletion)
}

func of(c *openai.ChatCompletion) outcome {
	if len(c.Choices) == 0 {
		return failed(errors.New("no choices"))
	}
	choice := c.Choices[0]
	return outcome{
		Text: choice.Message.Content, Finish: choice.FinishReason, Tokens: c.Usage.TotalTokens,
		Created: c.Created,
	}
}

func failed(err error) outcome {
	p := &problem{Message: err.Error()}
	var api *openai.Error
	if errors.As(err, &api) {
		p.Status = api.StatusCode
	}
	return outcome{Error: p}
}
