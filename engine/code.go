package engine

import "errors"

// Codes of errors and diagnostics that this package reports. [Codes] lists them together with those
// of the hosts. Messages may change, codes do not.
const (
	CodeBadCanvas        = "bad_canvas"
	CodeBadParam         = "bad_param"
	CodeBadParent        = "bad_parent"
	CodeBadReference     = "bad_reference"
	CodeBadState         = "bad_state"
	CodeCanceled         = "canceled"
	CodeClosedWebhook    = "closed_webhook"
	CodeEmptyForm        = "empty_form"
	CodeEmptySetting     = "empty_setting"
	CodeEndlessCycle     = "endless_cycle"
	CodeEntersBody       = "enters_body"
	CodeHostMemory       = "host_memory"
	CodeInternal         = "internal"
	CodeLeavesBody       = "leaves_body"
	CodeLimitReached     = "limit_reached"
	CodeMissingSetting   = "missing_setting"
	CodeNeedsHost        = "needs_host"
	CodeNoItem           = "no_item"
	CodeNoPrice          = "no_price"
	CodeNotAvailable     = "not_available"
	CodeOpenWebhook      = "open_webhook"
	CodeOrderDependent   = "order_dependent"
	CodePluginCheck      = "plugin_check"
	CodeExpired          = "expired"
	CodeRejected         = "rejected"
	CodeRepeatedCall     = "repeated_call"
	CodeRunFailed        = "run_failed"
	CodeSwitchedOff      = "switched_off"
	CodeTimeout          = "timeout"
	CodeUnboundValue     = "unbound_value"
	CodeUnknownComponent = "unknown_component"
	CodeUnknownDataset   = "unknown_dataset"
	CodeUnknownMemory    = "unknown_memory"
	CodeUnknownCanvas    = "unknown_canvas"
	CodeUnknownLanguage  = "unknown_language"
	CodeUnknownModel     = "unknown_model"
	CodeUnknownOperator  = "unknown_operator"
	CodeUnknownOutput    = "unknown_output"
	CodeUnknownParam     = "unknown_param"
	CodeUnknownServer    = "unknown_server"
	CodeUnknownTarget    = "unknown_target"
	CodeUnknownTool      = "unknown_tool"
	CodeUnreachable      = "unreachable"
	CodeUnsupported      = "unsupported"
	CodeValueTooDeep     = "value_too_deep"
)

// codes are the codes of the errors of this package; the first match counts.
var codes = []struct {
	err  error
	code string
}{
	{ErrCanceled, CodeCanceled},
	{ErrUnknownComponent, CodeUnknownComponent},
	{ErrRef, CodeBadReference},
	{ErrHostMemory, CodeHostMemory},
	{ErrTooDeep, CodeValueTooDeep},
	{ErrRejected, CodeRejected},
	{ErrRepeatedCall, CodeRepeatedCall},
	{ErrNoPrice, CodeNoPrice},
	{ErrLimit, CodeLimitReached},
	{ErrNoPort, CodeUnsupported},
	{ErrState, CodeBadState},
}

// CodeOf returns the code of an error of this package, and "" for any other error.
func CodeOf(err error) string {
	for _, k := range limitKinds {
		if errors.Is(err, k) {
			return k.code
		}
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return ""
}
