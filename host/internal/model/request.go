package model

import (
	"encoding/json"
	"math"

	openai "github.com/sashabaranov/go-openai"

	"github.com/easel-canvas/easel/engine"
)

// request converts a model call to an OpenAI request.
func (p *provider) request(model string, req *engine.ModelRequest) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: model, Messages: messages(req), Stop: req.Config.Stop}
	if req.Purpose != engine.PurposePlan { // the prompt of a plan describes the tools
		out.Tools = tools(req.Tools)
	}
	c := req.Config
	out.Temperature = sampling(c.Temperature)
	out.TopP = sampling(c.TopP)
	out.PresencePenalty = sampling(c.PresencePenalty)
	out.FrequencyPenalty = sampling(c.FrequencyPenalty)
	if c.MaxTokens != nil {
		out.MaxTokens = *c.MaxTokens //lint:ignore SA1019 most compatible servers know only this name
	}
	think(&out, c.Thinking)
	// Reasoning models reject the sampling parameters that canvases set for every model.
	if openai.NewReasoningValidator().Validate(out) != nil {
		out.MaxCompletionTokens, out.MaxTokens = out.MaxTokens, 0 //lint:ignore SA1019 see above
		out.Temperature, out.TopP, out.PresencePenalty, out.FrequencyPenalty = 0, 0, 0, 0
		out.Stop = nil
	}
	return out
}

// sampling converts a sampling parameter. Zero means unset to the client library, so an explicit 0
// becomes the smallest float32.
func sampling(f *float64) float32 {
	switch {
	case f == nil:
		return 0
	case *f == 0:
		return math.SmallestNonzeroFloat32
	}
	return float32(*f)
}

// think sets the reasoning effort, either by name or on/off as open models expect it.
func think(out *openai.ChatCompletionRequest, effort string) {
	switch effort {
	case "none", "minimal", "low", "medium", "high", "xhigh", "max":
		out.ReasoningEffort = effort
	case "enabled", "true", "on":
		out.ChatTemplateKwargs = map[string]any{"enable_thinking": true}
	case "disabled", "false", "off":
		out.ChatTemplateKwargs = map[string]any{"enable_thinking": false}
	}
}

func messages(req *engine.ModelRequest) []openai.ChatCompletionMessage {
	var out []openai.ChatCompletionMessage
	if req.System != "" {
		out = append(out, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: req.System})
	}
	last := -1
	for _, m := range req.Messages {
		message := openai.ChatCompletionMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolID}
		for _, c := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, openai.ToolCall{
				ID: c.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: c.Name, Arguments: c.Arguments},
			})
		}
		if m.Content == "" && len(m.ToolCalls) == 0 {
			message.Content = " " // the client library omits empty content, which servers reject
		}
		if m.Role == openai.ChatMessageRoleUser {
			last = len(out)
		}
		out = append(out, message)
	}
	if len(req.Images) > 0 && last >= 0 {
		out[last] = withImages(out[last], req.Images)
	}
	return out
}

func withImages(m openai.ChatCompletionMessage, images []string) openai.ChatCompletionMessage {
	m.MultiContent = []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: m.Content}}
	m.Content = ""
	for _, url := range images {
		m.MultiContent = append(m.MultiContent, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: url},
		})
	}
	return m
}

func tools(defs []engine.ToolDef) []openai.Tool {
	var out []openai.Tool
	for _, d := range defs {
		parameters := json.RawMessage(d.Parameters.JSON())
		if d.Parameters.IsNull() {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: d.Name, Description: d.Description, Parameters: parameters,
		}})
	}
	return out
}
