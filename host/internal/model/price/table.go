package price

import "time"

// read is the date of the public price lists from which these prices were typed.
var read = time.Date(2026, time.August, 6, 0, 0, 0, 0, time.UTC)

// row is an [Entry] of one vendor.
type row struct {
	model                          string
	input, cached, written, output float64
	tier, context                  int
}

// vendors are the vendors with their models, the newest first. Vendors of China have other prices,
// in yuan, at their addresses there.
var vendors = []vendor{
	dollars(vendor{
		name: "OpenAI", source: "https://openai.com/api/pricing/",
		hosts: []string{"api.openai.com"}, long: 1.5,
	}, []row{
		{"gpt-5.5", 5, 0.5, 0, 30, 272_000, 1_050_000},
		{"gpt-5.5-pro", 30, 0, 0, 180, 272_000, 1_050_000},
		{"gpt-5.4", 2.5, 0.25, 0, 15, 272_000, 1_050_000},
		{"gpt-5.4-mini", 0.75, 0.075, 0, 4.5, 0, 272_000},
		{"gpt-5.4-nano", 0.2, 0.02, 0, 1.25, 0, 272_000},
		{"gpt-5.4-pro", 30, 0, 0, 180, 272_000, 1_050_000},
		{"gpt-5.2", 1.75, 0.175, 0, 14, 0, 272_000},
		{"gpt-5.2-pro", 21, 0, 0, 168, 0, 272_000},
		{"gpt-5.2-codex", 1.75, 0.175, 0, 14, 0, 272_000},
		{"gpt-5.1", 1.25, 0.125, 0, 10, 0, 272_000},
		{"gpt-5.1-codex", 1.25, 0.125, 0, 10, 0, 272_000},
		{"gpt-5.1-codex-mini", 0.25, 0.025, 0, 2, 0, 272_000},
		{"gpt-5", 1.25, 0.125, 0, 10, 0, 272_000},
		{"gpt-5-mini", 0.25, 0.025, 0, 2, 0, 272_000},
		{"gpt-5-nano", 0.05, 0.005, 0, 0.4, 0, 272_000},
		{"gpt-5-pro", 15, 0, 0, 120, 0, 400_000},
		{"gpt-5-codex", 1.25, 0.125, 0, 10, 0, 272_000},
		{"gpt-4.1", 2, 0.5, 0, 8, 0, 1_047_576},
		{"gpt-4.1-mini", 0.4, 0.1, 0, 1.6, 0, 1_047_576},
		{"gpt-4.1-nano", 0.1, 0.025, 0, 0.4, 0, 1_047_576},
		{"gpt-4o", 2.5, 1.25, 0, 10, 0, 128_000},
		{"gpt-4o-2024-05-13", 5, 0, 0, 15, 0, 128_000},
		{"gpt-4o-mini", 0.15, 0.075, 0, 0.6, 0, 128_000},
		{"o4-mini", 1.1, 0.275, 0, 4.4, 0, 200_000},
		{"o3", 2, 0.5, 0, 8, 0, 200_000},
		{"o3-mini", 1.1, 0.55, 0, 4.4, 0, 200_000},
		{"o3-pro", 20, 0, 0, 80, 0, 200_000},
		{"o1", 15, 7.5, 0, 60, 0, 200_000},
		{"gpt-4-turbo", 10, 0, 0, 30, 0, 128_000},
		{"gpt-4", 30, 0, 0, 60, 0, 8192},
		{"gpt-3.5-turbo", 0.5, 0, 0, 1.5, 0, 16_385},
		{"text-embedding-3-small", 0.02, 0, 0, 0, 0, 8191},
		{"text-embedding-3-large", 0.13, 0, 0, 0, 0, 8191},
		{"text-embedding-ada-002", 0.1, 0, 0, 0, 0, 8191},
	}),
	dollars(vendor{
		name: "Anthropic", source: "https://claude.com/pricing",
		hosts: []string{"api.anthropic.com"}, long: 1.5,
	}, []row{
		{"claude-opus-4-8", 5, 0.5, 6.25, 25, 0, 1_000_000},
		{"claude-opus-4-7", 5, 0.5, 6.25, 25, 0, 1_000_000},
		{"claude-opus-4-6", 5, 0.5, 6.25, 25, 0, 1_000_000},
		{"claude-opus-4-5", 5, 0.5, 6.25, 25, 0, 200_000},
		{"claude-opus-4-1", 15, 1.5, 18.75, 75, 0, 200_000},
		{"claude-sonnet-4-6", 3, 0.3, 3.75, 15, 0, 1_000_000},
		{"claude-sonnet-4-5", 3, 0.3, 3.75, 15, 200_000, 200_000},
		{"claude-haiku-4-5", 1, 0.1, 1.25, 5, 0, 200_000},
		{"claude-opus-4", 15, 1.5, 18.75, 75, 0, 200_000},
		{"claude-sonnet-4", 3, 0.3, 3.75, 15, 200_000, 1_000_000},
		{"claude-3-7-sonnet", 3, 0.3, 3.75, 15, 0, 200_000},
		{"claude-3-haiku", 0.25, 0.03, 0.3, 1.25, 0, 200_000},
		{"claude-3-opus", 15, 1.5, 18.75, 75, 0, 200_000},
	}),
	dollars(vendor{
		name: "Gemini", source: "https://ai.google.dev/gemini-api/docs/pricing",
		hosts: []string{"generativelanguage.googleapis.com"}, long: 1.5,
	}, []row{
		{"gemini-3.5-flash", 1.5, 0.15, 0, 9, 0, 1_048_576},
		{"gemini-3.5-flash-lite", 0.3, 0.03, 0, 2.5, 0, 1_048_576},
		{"gemini-3.1-pro-preview", 2, 0.2, 0, 12, 200_000, 1_048_576},
		{"gemini-3.1-flash-lite", 0.25, 0.025, 0, 1.5, 0, 1_048_576},
		{"gemini-3-pro-preview", 2, 0.2, 0, 12, 200_000, 1_048_576},
		{"gemini-3-flash-preview", 0.5, 0.05, 0, 3, 0, 1_048_576},
		{"gemini-2.5-pro", 1.25, 0.125, 0, 10, 200_000, 1_048_576},
		{"gemini-2.5-flash", 0.3, 0.03, 0, 2.5, 0, 1_048_576},
		{"gemini-2.5-flash-lite", 0.1, 0.01, 0, 0.4, 0, 1_048_576},
		{"gemini-2.0-flash", 0.1, 0.025, 0, 0.4, 0, 1_048_576},
		{"gemini-2.0-flash-lite", 0.075, 0.01875, 0, 0.3, 0, 1_048_576},
		{"gemini-embedding-001", 0.15, 0, 0, 0, 0, 2048},
	}),
	dollars(vendor{
		name: "Mistral", source: "https://mistral.ai/pricing",
		hosts: []string{"api.mistral.ai"},
	}, []row{
		{"mistral-large-latest", 0.5, 0, 0, 1.5, 0, 262_144},
		{"mistral-large-2512", 0.5, 0, 0, 1.5, 0, 262_144},
		{"mistral-large-2411", 2, 0, 0, 6, 0, 128_000},
		{"mistral-medium-latest", 1.5, 0, 0, 7.5, 0, 262_144},
		{"mistral-medium-2508", 0.4, 0, 0, 2, 0, 131_072},
		{"mistral-medium-2505", 0.4, 0, 0, 2, 0, 131_072},
		{"codestral-2508", 0.3, 0, 0, 0.9, 0, 256_000},
		{"devstral-medium-latest", 0.4, 0, 0, 2, 0, 256_000},
		{"devstral-small-latest", 0.1, 0, 0, 0.3, 0, 256_000},
		{"magistral-medium-latest", 2, 0, 0, 5, 0, 40_000},
		{"ministral-8b-latest", 0.15, 0, 0, 0.15, 0, 262_144},
		{"mistral-embed", 0.1, 0, 0, 0, 0, 8192},
	}),
	dollars(vendor{
		name: "DeepSeek", source: "https://api-docs.deepseek.com/quick_start/pricing",
		hosts: []string{"api.deepseek.com"},
	}, []row{
		{"deepseek-v4-pro", 0.435, 0.003625, 0, 0.87, 0, 1_000_000},
		{"deepseek-v4-flash", 0.14, 0.0028, 0, 0.28, 0, 1_000_000},
		{"deepseek-chat", 0.28, 0.028, 0, 0.42, 0, 131_072},
		{"deepseek-reasoner", 0.28, 0.028, 0, 0.42, 0, 131_072},
	}),
	dollars(vendor{
		name: "xAI", source: "https://docs.x.ai/docs/models",
		hosts: []string{"api.x.ai"}, long: 2,
	}, []row{
		{"grok-4.5", 2, 0.5, 0, 6, 200_000, 500_000},
		{"grok-4.3", 1.25, 0.2, 0, 2.5, 200_000, 1_000_000},
		{"grok-4", 3, 0, 0, 15, 0, 256_000},
		{"grok-4-fast-reasoning", 0.2, 0.05, 0, 0.5, 128_000, 2_000_000},
		{"grok-4-fast-non-reasoning", 0.2, 0.05, 0, 0.5, 128_000, 2_000_000},
		{"grok-4-1-fast-reasoning", 0.2, 0.05, 0, 0.5, 128_000, 2_000_000},
		{"grok-4-1-fast-non-reasoning", 0.2, 0.05, 0, 0.5, 128_000, 2_000_000},
		{"grok-code-fast-1", 0.2, 0.02, 0, 1.5, 0, 256_000},
		{"grok-3", 3, 0.75, 0, 15, 0, 131_072},
		{"grok-3-mini", 0.3, 0.075, 0, 0.5, 0, 131_072},
	}),
	dollars(vendor{
		name: "Groq", source: "https://groq.com/pricing",
		hosts: []string{"api.groq.com"},
	}, []row{
		{"llama-3.3-70b-versatile", 0.59, 0, 0, 0.79, 0, 128_000},
		{"llama-3.1-8b-instant", 0.05, 0, 0, 0.08, 0, 128_000},
		{"openai/gpt-oss-120b", 0.15, 0.075, 0, 0.6, 0, 131_072},
		{"openai/gpt-oss-20b", 0.075, 0.0375, 0, 0.3, 0, 131_072},
		{"moonshotai/kimi-k2-instruct-0905", 1, 0.5, 0, 3, 0, 262_144},
		{"qwen/qwen3-32b", 0.29, 0, 0, 0.59, 0, 131_000},
		{"meta-llama/llama-4-scout-17b-16e-instruct", 0.11, 0, 0, 0.34, 0, 131_072},
		{"meta-llama/llama-4-maverick-17b-128e-instruct", 0.2, 0, 0, 0.6, 0, 131_072},
	}),
	dollars(vendor{
		name: "Cohere", source: "https://cohere.com/pricing",
		hosts: []string{"api.cohere.com", "api.cohere.ai"},
	}, []row{
		{"command-a-03-2025", 2.5, 0, 0, 10, 0, 256_000},
		{"command-r-08-2024", 0.15, 0, 0, 0.6, 0, 128_000},
		{"command-r-plus-08-2024", 2.5, 0, 0, 10, 0, 128_000},
		{"command-r7b-12-2024", 0.0375, 0, 0, 0.15, 0, 128_000},
		{"embed-v4.0", 0.12, 0, 0, 0, 0, 128_000},
	}),
	dollars(vendor{
		name: "Tongyi-Qianwen", source: "https://www.alibabacloud.com/help/en/model-studio/model-pricing",
		hosts: []string{"dashscope-intl.aliyuncs.com"},
	}, []row{
		{"qwen3.7-max", 2.5, 0.5, 0, 7.5, 0, 991_808},
		{"qwen-max", 1.6, 0, 0, 6.4, 0, 30_720},
		{"qwen-turbo", 0.05, 0, 0, 0.2, 0, 129_024},
		{"qwq-plus", 0.8, 0, 0, 2.4, 0, 98_304},
		{"qwen3-next-80b-a3b-instruct", 0.15, 0, 0, 1.2, 0, 262_144},
		{"qwen3-next-80b-a3b-thinking", 0.15, 0, 0, 1.2, 0, 262_144},
		{"qwen3-vl-235b-a22b-instruct", 0.4, 0, 0, 1.6, 0, 131_072},
	}),
	dollars(vendor{
		name: "Moonshot", source: "https://platform.moonshot.ai/docs/pricing",
		hosts: []string{"api.moonshot.ai"},
	}, []row{
		{"kimi-k2.6", 0.95, 0.16, 0, 4, 0, 262_144},
		{"kimi-k2.5", 0.6, 0.1, 0, 3, 0, 262_144},
		{"kimi-k2-thinking", 0.6, 0.15, 0, 2.5, 0, 262_144},
		{"kimi-k2-thinking-turbo", 1.15, 0.15, 0, 8, 0, 262_144},
		{"kimi-k2-turbo-preview", 1.15, 0.15, 0, 8, 0, 262_144},
		{"kimi-k2-0905-preview", 0.6, 0.15, 0, 2.5, 0, 262_144},
		{"moonshot-v1-8k", 0.2, 0, 0, 2, 0, 8192},
		{"moonshot-v1-32k", 1, 0, 0, 3, 0, 32_768},
		{"moonshot-v1-128k", 2, 0, 0, 5, 0, 131_072},
	}),
	dollars(vendor{
		name: "ZHIPU-AI", source: "https://docs.z.ai/guides/overview/pricing",
		hosts: []string{"api.z.ai"},
	}, []row{
		{"glm-5.1", 1.4, 0.26, 0, 4.4, 0, 200_000},
		{"glm-5", 1, 0.2, 0, 3.2, 0, 200_000},
		{"glm-4.7", 0.6, 0.11, 0, 2.2, 0, 200_000},
		{"glm-4.6", 0.6, 0.11, 0, 2.2, 0, 200_000},
		{"glm-4.5", 0.6, 0, 0, 2.2, 0, 128_000},
		{"glm-4.5-air", 0.2, 0, 0, 1.1, 0, 128_000},
		{"glm-4.5-x", 2.2, 0, 0, 8.9, 0, 128_000},
	}),
}

// dollars returns a vendor with prices in US dollars.
func dollars(v vendor, rows []row) vendor {
	for _, r := range rows {
		v.entries = append(v.entries, Entry{
			Model: r.model, Vendor: v.name, Input: r.input, Output: r.output, CachedInput: r.cached,
			CacheWrite: r.written, Tier: r.tier, LongInput: 2, LongOutput: v.long, Context: r.context,
			Currency: "USD", From: read, Source: v.source,
		})
	}
	return v
}
