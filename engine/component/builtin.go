package component

import "github.com/easel-canvas/easel/engine"

// Builtin lists every built-in component, in the order a palette shows them. A new component is one
// file and one line here.
func Builtin() []engine.Spec {
	return append([]engine.Spec{
		beginSpec,
		userFillUpSpec,
		messageSpec,
		llmSpec,
		agentSpec,
		categorizeSpec,
		retrievalSpec,
		switchSpec,
		iterationSpec,
		iterationItemSpec,
		loopSpec,
		loopItemSpec,
		exitLoopSpec,
		variableAssignerSpec,
		variableAggregatorSpec,
		listOperationsSpec,
		dataOperationsSpec,
		stringTransformSpec,
		codeExecSpec,
		invokeSpec,
		canvasSpec,
	}, append(externalSpecs(), pipelineSpecs()...)...)
}
