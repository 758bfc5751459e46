package component

import (
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// This file contains the prompts, one text or function per role. They depend on the parsers of the
// answers.

// stopMark ends a planning answer.
const stopMark = "<|stop|>"

// citationRules ask for citations in an answer.
const citationRules = `## Naming sources
The context holds passages, each under a line "ID: n". When a sentence rests on a passage, close it with that number ` +
	`in this form: [ID:n]
- One number per pair of brackets: [ID:12][ID:47], never [ID:12, 47].
- The mark stands at the end of the sentence, before its final punctuation; at most four marks per sentence.
- Use only numbers that occur in the context. Never invent one.
- Figures, dates, names, quotations and claims about cause need a mark. Common knowledge and your own transitions do ` +
	`not.
- A sentence no passage supports gets no mark.`

// citationRepair requests citation marks for an answer without any. The answer follows as the
// user's message.
func citationRepair(rules, sources string) string {
	return `You add source marks to a finished text. Return the text the user sends, word for word and in its ` +
		`language, with marks inserted where a source below supports a sentence. Change nothing else and add no remarks.

` + rules + `

## Sources
` + sources
}

// jsonAnswer requests an answer as JSON.
func jsonAnswer(schema engine.Value) string {
	return `## Form of the answer
Answer with one JSON value that fits the JSON Schema below, and with nothing else: no heading, no explanation, no ` +
		`code fence. Use exactly the names of the schema. If something is unknown, use null or an empty value of the ` +
		`right type.

` + indented(schema)
}

// jsonProblem requests another answer as JSON, because of a problem of the one before.
func jsonProblem(err error) string {
	return "That cannot be used: " + err.Error() + ". Answer again with the JSON alone, as the schema describes it."
}

// jsonReformat requests a text as JSON of a schema. The text follows as the user's message.
func jsonReformat(instruction string) string {
	return `The user sends a text that should have been JSON. Write the same content as JSON in the form described ` +
		`here. Add nothing that the text does not say.

` + instruction
}

// categorizeSystem requests the name of one category.
func categorizeSystem(list []category) string {
	var b strings.Builder
	b.WriteString("You sort what a user says into one of these categories:\n")
	for _, c := range list {
		b.WriteString("- " + c.name + "\n")
	}
	for _, c := range list {
		if c.description == "" && len(c.examples) == 0 {
			continue
		}
		b.WriteString("\n## " + c.name + "\n")
		if c.description != "" {
			b.WriteString(c.description + "\n")
		}
		for _, e := range c.examples {
			b.WriteString(`USER: "` + oneLine(e) + `" → ` + c.name + "\n")
		}
	}
	b.WriteString(`
Judge by the last message of the user; what was said before is only context. Answer with the name of the category, ` +
		`exactly as it is written above, and with nothing else. If none fits, choose the most general one.`)
	return b.String()
}

// categorizeUser formats the conversation to classify.
func categorizeUser(lines []string) string {
	return "## Conversation\n" + strings.Join(lines, " | ") + " →"
}

// planning describes the tools, the task and the protocol of a planning call. custom replaces the
// first paragraph.
func planning(custom, task string, tools []engine.ToolDef, today time.Time) string {
	if custom == "" {
		custom = `You plan the work of an assistant that can call tools. In each turn you decide which tools to ` +
			`call next, until enough is known to answer; somebody else writes the answer.`
	}
	var b strings.Builder
	b.WriteString(custom + "\n\n## Task\n" + task + "\n\n## Tools\n")
	for i, t := range tools {
		b.WriteString("### " + strconv.Itoa(i+1) + ". " + t.Name + "\n" + indented(t.Value()) + "\n")
	}
	b.WriteString(`
## How to answer
Give one JSON list of calls and nothing else:
[{"name": "<tool>", "arguments": {"<parameter>": "<value>"}}]
- Several calls in one list run at the same time. Calls that need each other's results belong into different turns.
- Use only the tools above and their parameters. Do not repeat a call that has been answered.
- When a tool fails, try other words or another tool.
- When everything needed is known, or no tool can help, end with:
[{"name": "` + engine.PlanDone + `", "arguments": {"answer": "<what was found, in short>"}}]
- You may think inside <think></think> before the list. Write ` + stopMark + ` after it.

Today is ` + today.Format("2006-01-02") + ".")
	return b.String()
}

// nextTool is appended to the last message of a planning call.
const nextTool = `Which tools are to be called next? Answer with the JSON list only; use ` + engine.PlanDone +
	` if enough is known.`

// agentTask returns the task text of a planning call.
func agentTask(role, request string, overrides engine.Value) string {
	var b strings.Builder
	if role != "" {
		b.WriteString("The assistant's role:\n" + role + "\n\n")
	}
	b.WriteString("The user's request:\n" + request)
	if overrides.Len() > 0 {
		b.WriteString("\n\nThe user's own rules for this work:\n" + overrides.Text())
	}
	return b.String()
}

// answerNow requests the answer after the tool calls. It is short, because it follows all their
// results.
const answerNow = `Now answer the request fully, in its language, without mentioning tools.`

// answerAnyway requests the answer when no further round is allowed.
func answerAnyway(request string) string {
	return request + `

No more tools can be called. Answer the request above now, as well as what was gathered allows, in the language of ` +
		`the user. Say plainly what could not be found out. Do not mention tools, plans or this message.`
}

// planProblem reports an invalid answer to the planner.
func planProblem(problem string) string {
	return "Your list of tool calls could not be used: " + problem +
		"\nAnswer again with one JSON list of objects, each with \"name\" and \"arguments\"."
}

// noCalls is the reply to an empty list of calls.
const noCalls = engine.PlanObservation + "\nThe list named no tool, so nothing was called."

// fullQuestion requests a question that is clear without the conversation.
func fullQuestion(conversation string, today time.Time) string {
	day := func(n int) string { return today.AddDate(0, 0, n).Format("2006-01-02") }
	return `Rewrite the last thing the user says in the conversation below as one request that can be understood ` +
		`alone: put in what pronouns and short forms refer to, and dates in place of words like today (` + day(0) +
		`), yesterday (` + day(-1) + `) and tomorrow (` + day(1) +
		`). Keep its language and its meaning. If it stands alone already, repeat it. Give the request only.

## Conversation
` + conversation
}

// delegated returns the task of a sub-agent.
func delegated(reasoning, context, query string) string {
	if reasoning == "" && context == "" {
		return query
	}
	var b strings.Builder
	if reasoning != "" {
		b.WriteString("# Why this is asked\n" + reasoning + "\n\n")
	}
	if context != "" {
		b.WriteString("# What is known\n" + context + "\n\n")
	}
	b.WriteString("# Request\n" + query)
	return b.String()
}

// toolSummary requests a summary of tool calls, which are sent as the user's message.
const toolSummary = `Summarise the tool calls the user sends for later turns of the conversation: per call one or ` +
	`two sentences on what was asked and what came out, with the names, numbers and links worth keeping. Plain text.`

// earlierTools formats the summaries of tool calls of earlier turns for an agent, oldest first:
// lists of request, answer and summary. It is empty without any.
func earlierTools(memories []engine.Value) string {
	if len(memories) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Tool calls of earlier turns\n" +
		"What tools found before; call a tool again only when this is not enough or may be out of date.")
	for _, m := range memories {
		b.WriteString("\n- \"" + oneLine(m.At(0).Text()) + "\": " + oneLine(m.At(2).Text()))
	}
	return b.String()
}

// metadataFilter requests conditions on document metadata.
func metadataFilter(metadata engine.Value, today time.Time) string {
	return `Documents carry the metadata below: each key with the values that occur. From the user's question, ` +
		`derive conditions that leave only documents which can answer it. Use a condition only where the question ` +
		`clearly asks for it.
Answer with JSON only: {"conditions": [{"key": "<key>", "op": "<operator>", "value": "<value>"}], "logic": "and" or ` +
		`"or"}; without any condition give an empty list.
Operators: contains, not contains, in, not in, start with, end with, empty, not empty, =, ≠, >, <, ≥, ≤. Write dates ` +
		`as YYYY-MM-DD. Today is ` + today.Format("2006-01-02") + `.

## Metadata
` + indented(metadata)
}

// translation requests a query in other languages.
func translation(languages []string) string {
	return `Translate the search query the user sends into these languages, in this order: ` +
		strings.Join(languages, ", ") + `. Keep names, numbers and code as they are. Give the translations only, ` +
		`separated by lines that hold nothing but ===`
}
