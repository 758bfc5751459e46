package component

import "github.com/easel-canvas/easel/engine"

// Sampling holds the settings of a model call. A value is sent if its switch is on, or if the node
// has no switches, which only an editor writes. A temperature of 0 is sent; the others have no
// effect at 0, and the original leaves them out.
type Sampling struct {
	LLMID            string   `json:"llm_id" doc:"model: NAME, NAME@PROVIDER or NAME@INSTANCE@PROVIDER; empty for the default model" label:"Model"`
	Temperature      *float64 `json:"temperature" doc:"sampling temperature: higher is more varied" min:"0" max:"1" group:"model"`
	TopP             *float64 `json:"top_p" doc:"nucleus sampling (top_p): lower is limited to likelier words" min:"0" max:"1" label:"Top P" group:"model"`
	PresencePenalty  *float64 `json:"presence_penalty" doc:"penalty for words that occurred before" min:"0" max:"1" group:"model"`
	FrequencyPenalty *float64 `json:"frequency_penalty" doc:"penalty for words by how often they occurred" min:"0" max:"1" group:"model"`
	MaxTokens        *int     `json:"max_tokens" doc:"maximum length of the answer in tokens; 0 for no limit" min:"0" group:"model"`
	UseTemperature   *bool    `json:"temperatureEnabled" doc:"send temperature" label:"Use temperature" group:"model"`
	UseTopP          *bool    `json:"topPEnabled" doc:"send top_p" label:"Use top P" group:"model"`
	UsePresence      *bool    `json:"presencePenaltyEnabled" doc:"send presence_penalty" label:"Use presence penalty" group:"model"`
	UseFrequency     *bool    `json:"frequencyPenaltyEnabled" doc:"send frequency_penalty" label:"Use frequency penalty" group:"model"`
	UseMaxTokens     *bool    `json:"maxTokensEnabled" doc:"send max_tokens" label:"Use max tokens" group:"model"`
	Thinking         string   `json:"thinking" doc:"reasoning effort; empty or default for the model's default" group:"model"`
}

// config returns the settings of the request.
func (s *Sampling) config() engine.ModelConfig {
	var c engine.ModelConfig
	switches := [...]*bool{s.UseTemperature, s.UseTopP, s.UsePresence, s.UseFrequency, s.UseMaxTokens}
	all := switches == [len(switches)]*bool{}
	on := func(used *bool) bool { return all || used != nil && *used }
	set := func(dst **float64, used *bool, v *float64) {
		if on(used) && v != nil && *v > 0 {
			*dst = v
		}
	}
	set(&c.TopP, s.UseTopP, s.TopP)
	set(&c.PresencePenalty, s.UsePresence, s.PresencePenalty)
	set(&c.FrequencyPenalty, s.UseFrequency, s.FrequencyPenalty)
	if on(s.UseTemperature) {
		c.Temperature = s.Temperature
	}
	if on(s.UseMaxTokens) && s.MaxTokens != nil && *s.MaxTokens > 0 {
		c.MaxTokens = s.MaxTokens
	}
	if s.Thinking != "default" {
		c.Thinking = s.Thinking
	}
	return c
}

// modelIgnores are params of model nodes in documents of the original that have no effect.
var modelIgnores = []string{
	"llm_filter", "llm_enabled_tools", "tenant_llm_id", "parameter", "parameters", "output_structure",
	"showStructuredOutput", "function_name", "custom_header", "sys_prompt", "prompts", "cite", "visual_files_var",
}
