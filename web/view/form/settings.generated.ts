// Generated from the engine by go run ./build/gen; do not edit.

import type { Schema } from "@easel/engine";

/** settingsSchema describes the settings of a canvas, as the params of a component. */
export const settingsSchema: Schema = {
  "type": "object",
  "properties": {
    "fallback_models": {
      "type": "array",
      "items": {
        "type": "string"
      },
      "title": "Models that stand in",
      "description": "asked in this order when a model fails",
      "x-easel": {
        "section": "main",
        "widget": "words",
        "kind": "chat"
      }
    },
    "files_to_model": {
      "type": "boolean",
      "title": "Show uploads to models",
      "description": "models that take images or files get those of the question",
      "default": true,
      "x-easel": {
        "section": "main",
        "widget": "toggle"
      }
    },
    "caller_instructions": {
      "type": "boolean",
      "title": "Take instructions of callers",
      "description": "models also get the system messages of who calls this canvas as a model",
      "default": false,
      "x-easel": {
        "section": "main",
        "widget": "toggle"
      }
    },
    "approval": {
      "type": "array",
      "items": {
        "type": "string"
      },
      "title": "Ask a person before",
      "description": "steps, components and tools that wait for an approval, by name",
      "x-easel": {
        "section": "tools",
        "widget": "words"
      }
    },
    "visitors_approve": {
      "type": "boolean",
      "title": "Visitors may approve",
      "description": "who uses the canvas decides; otherwise its editors do",
      "default": false,
      "x-easel": {
        "section": "tools",
        "widget": "toggle"
      }
    },
    "limits": {
      "title": "Limits of a run",
      "description": "a run that reaches one ends with an error; the host's own limits count too",
      "$comment": "{name: number}",
      "properties": {
        "seconds": {
          "title": "Seconds",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "model_calls": {
          "title": "Model calls",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "tokens": {
          "title": "Tokens",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "cost": {
          "title": "Cost of models",
          "type": "number",
          "minimum": 1e-06,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "tool_calls": {
          "title": "Tool calls",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "rounds": {
          "title": "Rounds of an agent",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "repeated_calls": {
          "title": "Equal calls in a row",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        },
        "tool_seconds": {
          "title": "Seconds of a tool",
          "type": "integer",
          "minimum": 1.0,
          "x-easel": {
            "section": "main",
            "widget": "number"
          }
        }
      },
      "x-easel": {
        "section": "fail",
        "widget": "members"
      }
    },
    "scheduling": {
      "type": "string",
      "title": "Order of steps",
      "description": "each step as soon as it can, or batch by batch as in RAGFlow; without a choice the host decides",
      "enum": [
        "eager",
        "batch"
      ],
      "x-easel": {
        "section": "advanced",
        "widget": "select",
        "options": [
          {
            "value": "eager",
            "label": "As soon as possible"
          },
          {
            "value": "batch",
            "label": "In batches"
          }
        ]
      }
    },
    "prices": {
      "title": "Prices of models",
      "description": "per million tokens, for models whose price the host does not know",
      "$comment": "{model: {input, output, cached_input, cache_write, above}}",
      "x-easel": {
        "section": "advanced",
        "widget": "pairs"
      }
    }
  }
};
