package engine

// CodeGroup holds the codes of one part of the program.
type CodeGroup struct {
	Title string
	Doc   string
	Codes []Term
}

// Codes lists every code of an error or a diagnostic once, with its meaning: those of this package
// and those that the hosts add. Codes of plugins are part of the plugin contract.
func Codes() []CodeGroup {
	return []CodeGroup{
		{"Canvas", "Loading and validating a canvas.", canvasCodes},
		{"Run", "Running a canvas. A run that fails ends with one of these.", runCodes()},
		{"Module", "The browser module and the npm package.", moduleCodes},
		{"Server", "The HTTP API of a host.", serverCodes},
	}
}

var canvasCodes = []Term{
	{CodeBadCanvas, "the document is not a canvas, or the canvas does not load"},
	{CodeUnknownComponent, "component_name names no component of this host"},
	{CodeBadParam, "a parameter is missing, has a wrong type or a value that is not accepted"},
	{CodeUnknownParam, "nothing reads the parameter; it is often misspelt"},
	{CodeUnknownOperator, "a condition or an assignment has an operator or a mode that does not exist"},
	{CodeEmptySetting, "a setting is empty without which the service refuses"},
	{CodeNeedsHost, "the component acts outside the engine and runs on a host only; a page answers with a stand-in"},
	{CodeNotAvailable, "a requirement of the node is missing; the message names it, or how to get it"},
	{CodeUnknownLanguage, "scripts in this language do not run at the place that was asked for"},
	{CodeUnknownModel, "the model configuration has no model of this id"},
	{CodeUnknownDataset, "no dataset of this name, or none that may be used here"},
	{CodeUnknownMemory, "no memory of this id, or none that may be used here"},
	{CodeUnknownCanvas, "no canvas of this id, or none that may be used here"},
	{CodeUnknownServer, "the host has no MCP server of this id"},
	{CodeUnknownTool, "the MCP server has no tool of this name"},
	{CodeMissingSetting, "a setting or secret that a plugin needs is not set"},
	{CodePluginCheck, "the plugin itself refuses its parameters"},
	{CodeBadReference, "a reference names a node or variable that does not exist"},
	{CodeClosedWebhook, "the webhook refuses every request"},
	{CodeEmptyForm, "a form has no fields, so the run pauses for nothing"},
	{CodeOpenWebhook, "everybody who knows the address of the webhook may start the canvas"},
	{CodeUnboundValue, "a reference stands outside the quotes of a statement of SQL, which its value can change"},
	{CodeUnknownOutput, "a reference names an output that the node does not have"},
	{CodeSwitchedOff, "a reference names a node that is switched off"},
	{CodeUnknownTarget, "an edge, branch or error handler leads to no component"},
	{CodeUnreachable, "no edge, branch or error handler leads to the node"},
	{CodeBadParent, "parent_id names a node that cannot hold this one"},
	{CodeNoItem, "a container has no start node inside, so its body never runs"},
	{CodeEntersBody, "an edge leads into the body of a container"},
	{CodeLeavesBody, "an edge leads out of the body of a container, which ends it"},
	{CodeOrderDependent, "the result of a node of an eager canvas depends on which of two others ends first"},
	{CodeEndlessCycle, "a cycle without a choice, so that the run never finishes"},
}

// runCodes returns the codes of runs, those of the limits included.
func runCodes() []Term {
	terms := []Term{
		{CodeRunFailed, "a node failed for a reason without a code; the message names it"},
		{CodeCanceled, "the run was stopped on request"},
		{CodeTimeout, "something took longer than it may"},
		{CodeUnsupported, "a component needs something that this host does not offer"},
		{CodeBadState, "the saved state does not fit the canvas"},
		{CodeValueTooDeep, "a value nests more levels than documents may"},
		{CodeLimitReached, "a limit of the run without a separate code"},
		{CodeNoPrice, "the run has a limit on money and calls a model without a price; add the model to the prices"},
		{CodeExpired, "the form or approval of the run was not answered in time"},
		{CodeRejected, "a person refused to let the node run"},
		{CodeRepeatedCall, "an agent called a tool with the same arguments too often; the tool did not run"},
		{CodeHostMemory, "the host is short of memory and ended the run"},
		{CodeInternal, "an internal error; see the log of the host"},
		{"out_of_memory", "the run made the host run out of memory before, and is not repeated"},
		{"quota_used_up", "the tenant or the caller has no model tokens left"},
	}
	for _, k := range limitKinds {
		terms = append(terms, Term{k.code, k.text + "; raise the limit " + k.name})
	}
	return terms
}

var moduleCodes = []Term{
	{"bad_request", "the request itself is wrong"},
	{"busy", "the canvas is running; wait for its end"},
	{"closed", "the engine or the canvas was closed"},
	{"code", "a script failed; the message is its error"},
	{"crashed", "the module ended, mostly because it ran out of memory"},
	{"denied", "the canvas may not reach this address from a page"},
	{"init", "the module did not start"},
	{"plugin", "a plugin could not be opened, or failed"},
	{"protocol", "the other end broke the contract"},
	{"provider", "a callback of the application failed"},
	{"too_large", "the canvas is larger than maxCanvas"},
	{"version", "the module and the package are of different versions"},
	{"watchdog", "the module did not respond for too long and was ended"},
}

var serverCodes = []Term{
	{"bad_argument", "a member of the request has a wrong type or value"},
	{"bad_encoding", "the body has a Content-Type or an encoding that is not accepted"},
	{"bad_method", "the address exists, the method does not"},
	{"body_timeout", "the body did not arrive in time"},
	{"body_too_large", "the body is larger than the host accepts"},
	{"changed", "the record has a newer revision; read it again and retry"},
	{"exists", "the name is taken"},
	{"forbidden", "the principal may not do this"},
	{"gone", "the run is too old to be read"},
	{"insufficient_quota", "OpenAI's word for quota_used_up"},
	{"last_owner", "a tenant keeps at least one owner"},
	{"last_password", "a tenant keeps at least one owner with a password"},
	{"memory_full", "the memory keeps no more messages"},
	{"memory_model", "a model of the memory failed"},
	{"model_not_found", "no model of this name"},
	{"model_not_relayed", "the model's provider has another API, without a place for a member of the request"},
	{"no_case", "the run cannot become a test; the message has the reason"},
	{"no_route", "no such address"},
	{"no_user", "the key belongs to no user"},
	{"not_empty", "the setting is fixed once the record holds something"},
	{"not_found", "no such record"},
	{"not_paused", "the run does not wait for a form"},
	{"not_published", "the canvas has no published version"},
	{"operator", "only an operator of the host may change this"},
	{"provider_timeout", "the model provider did not answer in time"},
	{"provider_unreachable", "the model provider cannot be reached, or refused the call"},
	{"rate_limited", "too many requests; retry after the time in Retry-After"},
	{"session_busy", "the session is running; wait for the end of the turn"},
	{"still_running", "the run has not ended"},
	{"storage_full", "the host has no room left"},
	{"stronger_role", "the groups of the sign-in provider lead to a stronger role"},
	{"too_many", "the limit on the number of such records is reached"},
	{"tool_failed", "a built-in tool failed; the message is its error"},
	{"unauthorized", "the request carries no valid key or token"},
	{"unavailable", "the host cannot accept runs now; try again"},
	{"unknown_session", "no such session"},
	{"url_too_long", "the address is longer than the host accepts"},
	{"wrong_password", "the password is wrong"},
}
