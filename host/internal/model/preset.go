package model

import (
	"cmp"
	"slices"
	"strings"
)

// Preset has what is known of a provider, so that people enter no more than its name and a key.
type Preset struct {
	Name string
	// Aliases are other names of it, among them those of RAGFlow's model factories.
	Aliases []string
	API     API
	// BaseURL is empty if each customer has another one, such as Example.
	BaseURL, Example string
	Keys             []string // environment variables that usually have the key
	// Local means that the server runs on the machine or in the network of its users; it needs no
	// key.
	Local bool
	// lists is the address of its models where that is not below BaseURL.
	lists string
	// rerank is the address of reranking requests where that is not /rerank below BaseURL.
	rerank string
}

// presets are the providers by name. Addresses are from the documentation of the vendors.
var presets = []Preset{
	{Name: "OpenAI", BaseURL: "https://api.openai.com/v1", Keys: []string{"OPENAI_API_KEY"}},
	{
		Name: "Anthropic", Aliases: []string{"Claude"}, API: Anthropic, BaseURL: "https://api.anthropic.com",
		Keys: []string{"ANTHROPIC_API_KEY"},
	},
	{
		Name: "Gemini", Aliases: []string{"Google"}, API: Gemini, BaseURL: "https://generativelanguage.googleapis.com",
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	},
	{
		Name: "Azure-OpenAI", Aliases: []string{"Azure"}, API: Azure, Example: "https://NAME.openai.azure.com",
		Keys: []string{"AZURE_OPENAI_API_KEY"},
	},
	{
		Name: "Bedrock", Aliases: []string{"Amazon Bedrock", "AWS"}, API: Bedrock,
		Example: "https://bedrock-runtime.us-east-1.amazonaws.com",
	},
	{Name: "Mistral", BaseURL: "https://api.mistral.ai/v1", Keys: []string{"MISTRAL_API_KEY"}},
	{Name: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", Keys: []string{"DEEPSEEK_API_KEY"}},
	{Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", Keys: []string{"OPENROUTER_API_KEY"}},
	{Name: "Groq", BaseURL: "https://api.groq.com/openai/v1", Keys: []string{"GROQ_API_KEY"}},
	{Name: "xAI", Aliases: []string{"Grok"}, BaseURL: "https://api.x.ai/v1", Keys: []string{"XAI_API_KEY"}},
	{
		Name: "Cohere", BaseURL: "https://api.cohere.ai/compatibility/v1",
		Keys:  []string{"COHERE_API_KEY", "CO_API_KEY"},
		lists: "https://api.cohere.com/v1/models?page_size=1000", rerank: "https://api.cohere.com/v2/rerank",
	},
	{
		Name: "TogetherAI", Aliases: []string{"Together"}, BaseURL: "https://api.together.ai/v1",
		Keys: []string{"TOGETHER_API_KEY"},
	},
	{Name: "NVIDIA", BaseURL: "https://integrate.api.nvidia.com/v1", Keys: []string{"NVIDIA_API_KEY"}},
	{Name: "DeepInfra", BaseURL: "https://api.deepinfra.com/v1/openai", Keys: []string{"DEEPINFRA_API_KEY"}},
	{Name: "HuggingFace", BaseURL: "https://router.huggingface.co/v1", Keys: []string{"HF_TOKEN"}},
	{
		Name: "NovitaAI", Aliases: []string{"Novita"}, BaseURL: "https://api.novita.ai/openai/v1",
		Keys: []string{"NOVITA_API_KEY"},
	},
	{Name: "Upstage", BaseURL: "https://api.upstage.ai/v1", Keys: []string{"UPSTAGE_API_KEY"}},
	{
		Name: "Voyage", Aliases: []string{"Voyage AI"}, BaseURL: "https://api.voyageai.com/v1",
		Keys: []string{"VOYAGE_API_KEY"},
	},
	{Name: "Jina", BaseURL: "https://api.jina.ai/v1", Keys: []string{"JINA_API_KEY"}},
	{
		Name: "Tongyi-Qianwen", Aliases: []string{"DashScope", "Qwen", "Alibaba"},
		BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", Keys: []string{"DASHSCOPE_API_KEY"},
	},
	{
		Name: "ZHIPU-AI", Aliases: []string{"GLM", "Zhipu"}, BaseURL: "https://open.bigmodel.cn/api/paas/v4",
		Keys: []string{"ZHIPUAI_API_KEY"},
	},
	{
		Name: "Moonshot", Aliases: []string{"Kimi"}, BaseURL: "https://api.moonshot.cn/v1",
		Keys: []string{"MOONSHOT_API_KEY"},
	},
	{Name: "SILICONFLOW", BaseURL: "https://api.siliconflow.cn/v1", Keys: []string{"SILICONFLOW_API_KEY"}},
	{
		Name: "VolcEngine", Aliases: []string{"Ark"}, BaseURL: "https://ark.cn-beijing.volces.com/api/v3",
		Keys: []string{"ARK_API_KEY"},
	},
	{Name: "BaiChuan", BaseURL: "https://api.baichuan-ai.com/v1", Keys: []string{"BAICHUAN_API_KEY"}},
	{
		Name: "BaiduYiyan", Aliases: []string{"Qianfan"}, BaseURL: "https://qianfan.baidubce.com/v2",
		Keys: []string{"QIANFAN_API_KEY"},
	},
	{Name: "MiniMax", BaseURL: "https://api.minimaxi.com/v1", Keys: []string{"MINIMAX_API_KEY"}},
	{Name: "StepFun", BaseURL: "https://api.stepfun.com/v1", Keys: []string{"STEP_API_KEY"}},
	{Name: "GiteeAI", BaseURL: "https://api.moark.com/v1"},
	{Name: "PPIO", BaseURL: "https://api.ppio.com/openai/v1"},
	{Name: "302.AI", BaseURL: "https://api.302.ai/v1"},
	{Name: "CometAPI", BaseURL: "https://api.cometapi.com/v1"},
	{Name: "LongCat", BaseURL: "https://api.longcat.chat/openai/v1"},
	{Name: "Ollama", API: Ollama, BaseURL: "http://127.0.0.1:11434", Local: true},
	{Name: "LM-Studio", Aliases: []string{"LMStudio"}, BaseURL: "http://127.0.0.1:1234/v1", Local: true},
	{Name: "VLLM", BaseURL: "http://127.0.0.1:8000/v1", Keys: []string{"VLLM_API_KEY"}, Local: true},
	{Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true},
	{Name: "Xinference", BaseURL: "http://127.0.0.1:9997/v1", Local: true},
	{Name: "LocalAI", BaseURL: "http://127.0.0.1:8080/v1", Local: true},
}

// Presets lists the known providers, those that most people use first.
func Presets() []Preset {
	out := slices.Clone(presets)
	for i := range out {
		out[i].Aliases, out[i].Keys = slices.Clone(out[i].Aliases), slices.Clone(out[i].Keys)
	}
	return out
}

// PresetOf returns the preset with a name or an alias, ignoring case.
func PresetOf(name string) (Preset, bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool {
		same := func(other string) bool { return strings.EqualFold(other, name) }
		return same(p.Name) || slices.ContainsFunc(p.Aliases, same)
	})
	if i < 0 {
		return Preset{}, false
	}
	return presets[i], true
}

// Completed returns a provider without an address with the API and the address of the preset of its
// name. One with an address, or with another API, is returned as it is.
func (p Provider) Completed() Provider {
	preset, known := PresetOf(p.Name)
	if known && p.BaseURL == "" && (p.API == "" || p.API == cmp.Or(preset.API, OpenAI)) {
		p.API, p.BaseURL = preset.API, preset.BaseURL
	}
	return p
}

// keyVariables returns the environment variables that may have the key of a provider: its own, or
// those of the preset if requests go to the address of the preset.
func (p *Provider) keyVariables() []string {
	if p.KeyEnv != "" {
		return []string{p.KeyEnv}
	}
	preset, known := PresetOf(p.Name)
	if known && preset.BaseURL != "" && p.Completed().BaseURL == preset.BaseURL {
		return preset.Keys
	}
	return nil
}
