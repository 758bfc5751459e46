package cli

// The verbs of `easel kb`.
var kbCommand = command{
	name: "kb", args: "VERB [ARGUMENTS]",
	summary: "evaluates searches in documents",
	help:    verbHelp("kb", kbVerbs()),
	setup:   needsVerb("kb"),
	verbs:   kbVerbs,
}

func kbVerbs() []command { return []command{kbEval} }
