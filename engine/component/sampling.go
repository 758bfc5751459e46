package component

import "github.com/easel-canvas/easel/engine"

// Sampling holds the settings of a model call. A value is sent if its switch is on, or if the node
// has no switches, which only an editor writes. A temperature of 0 is sent; the others have no
// effect at 0, and the original leaves them out.
type Sampling struct {
	LLMID            string   `json:"llm_id" label:"Model" doc:"the model to ask; the default model of the host if empty" shape:"NAME, NAME@PROVIDER or NAME@INSTANCE@PROVIDER" widget:"model" kind:"chat"`
	Temperature      *float64 `json:"temperature" label:"Temperature" doc:"higher is more varied, lower is more precise" section:"advanced" widget:"slider" enable:"temperatureEnabled" step:"0.05" min:"0" max:"1"`
	TopP             *float64 `json:"top_p" label:"Top P" doc:"lower is limited to likelier words" section:"advanced" widget:"slider" enable:"topPEnabled" step:"0.05" min:"0" max:"1"`
	PresencePenalty  *float64 `json:"presence_penalty" label:"Presence penalty" doc:"penalty for words that occurred before" section:"advanced" widget:"slider" enable:"presencePenaltyEnabled" step:"0.05" min:"0" max:"1"`
	FrequencyPenalty *float64 `json:"frequency_penalty" label:"Frequency penalty" doc:"penalty for words by how often they occurred" section:"advanced" widget:"slider" enable:"frequencyPenaltyEnabled" step:"0.05" min:"0" max:"1"`
	MaxTokens        *int     `json:"max_tokens" label:"Longest answer" doc:"the answer is cut after so many tokens" section:"advanced" enable:"maxTokensEnabled" unit:"tokens" zero:"no limit" min:"0"`
	UseTemperature   *bool    `json:"temperatureEnabled" label:"Use temperature" doc:"send temperature" section:"advanced" hidden:"true"`
	UseTopP          *bool    `json:"topPEnabled" label:"Use top P" doc:"send top_p" section:"advanced" hidden:"true"`
	UsePresence      *bool    `json:"presencePenaltyEnabled" label:"Use presence penalty" doc:"send presence_penalty" section:"advanced" hidden:"true"`
	UseFrequency     *bool    `json:"frequencyPenaltyEnabled" label:"Use frequency penalty" doc:"send frequency_penalty" section:"advanced" hidden:"true"`
	UseMaxTokens     *bool    `json:"maxTokensEnabled" label:"Use max tokens" doc:"send max_tokens" section:"advanced" hidden:"true"`
	Thinking         string   `json:"thinking" label:"Thinking" doc:"how long the model may think before it answers" section:"advanced" widget:"select" offer:"=Default|off=Off|low=Low|medium=Medium|high=High" accept:"=default"`
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
