// Generated from the engine by go run ./build/gen; do not edit.

/** Status is the status of a run or of an execution of a node. */
export type Status =
  /** accepted, waiting for a worker */
  | "queued"
  /** accepted and not ended; of a node: started and not finished */
  | "running"
  /** waiting for a person to fill in a form */
  | "paused"
  /** ended without an unhandled error */
  | "succeeded"
  /** ended by an error that nothing handled */
  | "failed"
  /** stopped on request */
  | "canceled";

/** Severity is the severity of a diagnostic. */
export type Severity =
  /** some run fails */
  | "error"
  /** it may be meant */
  | "warning";

/** Code is a stable word for one kind of error or diagnostic. */
export type Code =
  /** the document is not a canvas, or the canvas does not load */
  | "bad_canvas"
  /** component_name names no component of this host */
  | "unknown_component"
  /** a parameter is missing, has a wrong type or a value that is not accepted */
  | "bad_param"
  /** nothing reads the parameter; it is often misspelt */
  | "unknown_param"
  /** a condition or an assignment has an operator or a mode that does not exist */
  | "unknown_operator"
  /** a setting is empty without which the service refuses */
  | "empty_setting"
  /**
   * the component acts outside the engine and runs on a host only; a page answers with a stand-in
   */
  | "needs_host"
  /** a requirement of the node is missing; the message names it, or how to get it */
  | "not_available"
  /** scripts in this language do not run at the place that was asked for */
  | "unknown_language"
  /** the model configuration has no model of this id */
  | "unknown_model"
  /** no dataset of this name, or none that may be used here */
  | "unknown_dataset"
  /** no memory of this id, or none that may be used here */
  | "unknown_memory"
  /** no canvas of this id, or none that may be used here */
  | "unknown_canvas"
  /** the host has no MCP server of this id */
  | "unknown_server"
  /** the MCP server has no tool of this name */
  | "unknown_tool"
  /** a setting or secret that a plugin needs is not set */
  | "missing_setting"
  /** the plugin itself refuses its parameters */
  | "plugin_check"
  /** a reference names a node or variable that does not exist */
  | "bad_reference"
  /** the webhook refuses every request */
  | "closed_webhook"
  /** a form has no fields, so the run pauses for nothing */
  | "empty_form"
  /** everybody who knows the address of the webhook may start the canvas */
  | "open_webhook"
  /** a reference stands outside the quotes of a statement of SQL, which its value can change */
  | "unbound_value"
  /** a reference names an output that the node does not have */
  | "unknown_output"
  /** a reference names a node that is switched off */
  | "switched_off"
  /** an edge, branch or error handler leads to no component */
  | "unknown_target"
  /** no edge, branch or error handler leads to the node */
  | "unreachable"
  /** parent_id names a node that cannot hold this one */
  | "bad_parent"
  /** a container has no start node inside, so its body never runs */
  | "no_item"
  /** an edge leads into the body of a container */
  | "enters_body"
  /** an edge leads out of the body of a container, which ends it */
  | "leaves_body"
  /** the result of a node of an eager canvas depends on which of two others ends first */
  | "order_dependent"
  /** a cycle without a choice, so that the run never finishes */
  | "endless_cycle"
  /** a node failed for a reason without a code; the message names it */
  | "run_failed"
  /** the run was stopped on request */
  | "canceled"
  /** something took longer than it may */
  | "timeout"
  /** a component needs something that this host does not offer */
  | "unsupported"
  /** the saved state does not fit the canvas */
  | "bad_state"
  /** a value nests more levels than documents may */
  | "value_too_deep"
  /** a limit of the run without a separate code */
  | "limit_reached"
  /**
   * the run has a limit on money and calls a model without a price; add the model to the prices
   */
  | "no_price"
  /** the form or approval of the run was not answered in time */
  | "expired"
  /** a person refused to let the node run */
  | "rejected"
  /** an agent called a tool with the same arguments too often; the tool did not run */
  | "repeated_call"
  /** the host is short of memory and ended the run */
  | "host_memory"
  /** an internal error; see the log of the host */
  | "internal"
  /** the run made the host run out of memory before, and is not repeated */
  | "out_of_memory"
  /** the tenant or the caller has no model tokens left */
  | "quota_used_up"
  /** text is too large; raise the limit text */
  | "text_too_large"
  /** output is too large; raise the limit output */
  | "output_too_large"
  /** state of the run is too large; raise the limit state */
  | "state_too_large"
  /** inputs and outputs of the node are too large; raise the limit event */
  | "event_too_large"
  /** events of the run are too large; raise the limit events */
  | "events_too_large"
  /** too many model calls; raise the limit model_calls */
  | "too_many_model_calls"
  /** too many model tokens; raise the limit tokens */
  | "too_many_tokens"
  /** model calls cost too much, in millionths; raise the limit cost */
  | "cost_too_high"
  /** too many tool calls; raise the limit tool_calls */
  | "too_many_tool_calls"
  /** too many rounds of tool calls; raise the limit rounds */
  | "too_many_rounds"
  /** took too many seconds; raise the limit seconds */
  | "run_too_long"
  /** the same tool call was asked for too often; raise the limit repeated_calls */
  | "too_many_repeats"
  /** tool took too many seconds; raise the limit tool_seconds */
  | "tool_too_slow"
  /** the request itself is wrong */
  | "bad_request"
  /** the canvas is running; wait for its end */
  | "busy"
  /** the engine or the canvas was closed */
  | "closed"
  /** a script failed; the message is its error */
  | "code"
  /** the module ended, mostly because it ran out of memory */
  | "crashed"
  /** the canvas may not reach this address from a page */
  | "denied"
  /** the module did not start */
  | "init"
  /** a plugin could not be opened, or failed */
  | "plugin"
  /** the other end broke the contract */
  | "protocol"
  /** a callback of the application failed */
  | "provider"
  /** the canvas is larger than maxCanvas */
  | "too_large"
  /** the module and the package are of different versions */
  | "version"
  /** the module did not respond for too long and was ended */
  | "watchdog"
  /** a member of the request has a wrong type or value */
  | "bad_argument"
  /** the body has a Content-Type or an encoding that is not accepted */
  | "bad_encoding"
  /** the address exists, the method does not */
  | "bad_method"
  /** the body did not arrive in time */
  | "body_timeout"
  /** the body is larger than the host accepts */
  | "body_too_large"
  /** the record has a newer revision; read it again and retry */
  | "changed"
  /** the name is taken */
  | "exists"
  /** the principal may not do this */
  | "forbidden"
  /** the run is too old to be read */
  | "gone"
  /** OpenAI's word for quota_used_up */
  | "insufficient_quota"
  /** a tenant keeps at least one owner */
  | "last_owner"
  /** a tenant keeps at least one owner with a password */
  | "last_password"
  /** the memory keeps no more messages */
  | "memory_full"
  /** a model of the memory failed */
  | "memory_model"
  /** no model of this name */
  | "model_not_found"
  /** the model's provider has another API, without a place for a member of the request */
  | "model_not_relayed"
  /** the run cannot become a test; the message has the reason */
  | "no_case"
  /** no such address */
  | "no_route"
  /** the key belongs to no user */
  | "no_user"
  /** the setting is fixed once the record holds something */
  | "not_empty"
  /** no such record */
  | "not_found"
  /** the run does not wait for a form */
  | "not_paused"
  /** the canvas has no published version */
  | "not_published"
  /** only an operator of the host may change this */
  | "operator"
  /** the model provider did not answer in time */
  | "provider_timeout"
  /** the model provider cannot be reached, or refused the call */
  | "provider_unreachable"
  /** too many requests; retry after the time in Retry-After */
  | "rate_limited"
  /** the session is running; wait for the end of the turn */
  | "session_busy"
  /** the run has not ended */
  | "still_running"
  /** the host has no room left */
  | "storage_full"
  /** the groups of the sign-in provider lead to a stronger role */
  | "stronger_role"
  /** the limit on the number of such records is reached */
  | "too_many"
  /** a built-in tool failed; the message is its error */
  | "tool_failed"
  /** the request carries no valid key or token */
  | "unauthorized"
  /** the host cannot accept runs now; try again */
  | "unavailable"
  /** no such session */
  | "unknown_session"
  /** the address is longer than the host accepts */
  | "url_too_long"
  /** the password is wrong */
  | "wrong_password";

/** EventType is the type of an event. */
export type EventType =
  /** a run begins, or continues after a form */
  | "workflow_started"
  /** a node starts */
  | "node_started"
  /** a node has finished, with inputs, outputs and error */
  | "node_finished"
  /** a piece of a message */
  | "message"
  /** the end of a message, with references and attachments */
  | "message_end"
  /** the run pauses and asks for the fields of a form */
  | "user_inputs"
  /** the run has ended without an unhandled error */
  | "workflow_finished"
  /** an agent calls a tool */
  | "tool_started"
  /** a tool has answered */
  | "tool_finished"
  /** progress of a long step */
  | "progress"
  /** something unexpected that does not stop the run */
  | "warning"
  /** an event of a canvas that a node runs; inner is the ids on the way to its node */
  | "canvas_event"
  /** the usage of a model call, with the totals of its node and of the run */
  | "usage"
  /** a limit stopped a node or a tool; the code names it */
  | "limit_reached"
  /** a node has done its work and waits for the rest of its batch to be settled */
  | "worked"
  /** a node or a call has waited for a slot: of the run, of a model or among plugins */
  | "queued"
  /** a message starts its text again after a takeover */
  | "message_reset"
  /** a language model is called; only from the browser module */
  | "model_started"
  /** a language model has answered; only from the browser module */
  | "model_finished"
  /** variables have changed; only from the browser module */
  | "variables_changed";

/** Category groups components by purpose. */
export type Category =
  /** talks with the person */
  | "conversation"
  /** asks a language model */
  | "model"
  /** decides what runs next */
  | "flow"
  /** changes values and variables */
  | "data"
  /** searches what the host has collected */
  | "knowledge"
  /** acts on something outside; plugins are tools */
  | "tool"
  /** a step of an ingestion pipeline */
  | "pipeline";

/** Group is a heading of a palette; they are in its order. */
export type Group =
  /** talks with the person */
  | "talk"
  /** asks a language model */
  | "ai"
  /** searches what the host has collected */
  | "knowledge"
  /** decides what runs next */
  | "flow"
  /** changes values and variables */
  | "data"
  /** code, services and databases */
  | "code"
  /** reads and writes files */
  | "files"
  /** searches the web */
  | "web"
  /** searches papers and encyclopedias */
  | "papers"
  /** data of markets */
  | "finance"
  /** weather and translation */
  | "weather"
  /** components of third parties */
  | "plugins"
  /** a step of an ingestion pipeline */
  | "pipeline";

/** Role restricts the position of a component in a canvas. */
export type Role =
  /** a canvas begins here; nothing leads to it */
  | "start"
  /** holds other nodes, which run in turns */
  | "container"
  /** opens each turn of the container around it */
  | "item"
  /** selects one of its branches */
  | "branch"
  /** nothing follows it */
  | "sink";

/** Section is a part of a form. */
export type Section =
  /** what the component is for; it has no heading */
  | "main"
  /** texts and images for a model */
  | "prompt"
  /** tools that a model may call */
  | "tools"
  /** results and their form */
  | "output"
  /** retries, and what follows an error */
  | "fail"
  /** the rest */
  | "advanced";

/** Widget is the editor of a param. */
export type Widget =
  /** one line */
  | "text"
  /** a text with references */
  | "prompt"
  /** a reference */
  | "ref"
  /** a value of a chosen type, or a reference */
  | "value"
  /** a menu */
  | "select"
  /** two to four options in a row */
  | "segment"
  /** an operator of a set */
  | "operator"
  /** a number with its unit */
  | "number"
  /** a number between two bounds */
  | "slider"
  /** seconds */
  | "duration"
  /** yes or no */
  | "toggle"
  /** a list of short texts */
  | "words"
  /** names with values */
  | "pairs"
  /** a list of objects with the same members */
  | "rows"
  /** a list of references */
  | "references"
  /** several of the options */
  | "checks"
  /** an object with known members */
  | "members"
  /** rules with operators */
  | "conditions"
  /** branches and the nodes that they lead to */
  | "branches"
  /** a program */
  | "code"
  /** members of JSON */
  | "schema"
  /** declared outputs */
  | "outputs"
  /** fields of a form that a person fills in */
  | "fields"
  /** messages for a model: one text, or several with roles */
  | "messages"
  /** one text, or several of which one is picked */
  | "variants"
  /** a model */
  | "model"
  /** datasets of the host */
  | "datasets"
  /** memories of the host */
  | "memories"
  /** tools of an agent */
  | "tools"
  /** MCP servers */
  | "servers"
  /** another canvas */
  | "canvas"
  /** a key or password */
  | "secret"
  /** files, as references */
  | "files"
  /** a language */
  | "language"
  /** a country */
  | "country"
  /** a color */
  | "color"
  /** a date */
  | "date"
  /** nodes */
  | "targets"
  /** values to read from a web request */
  | "request"
  /** how senders of requests prove who they are */
  | "webhook"
  /** the address of a web request, which can be tried */
  | "address"
  /** lines of headers */
  | "headers"
  /** lines of headers with references, and how a service knows the caller */
  | "request-headers"
  /** a kind of database */
  | "database"
  /** the database of a connection, which can be tested */
  | "connection"
  /** a filter by metadata of documents */
  | "metadata"
  /** settings by kind of file */
  | "parsers"
  /** a value as JSON, where no other editor fits */
  | "json";

/** OperatorSet names a set of operators. */
export type OperatorSet =
  /**
   * contains, not contains, start with, end with, empty, not empty, =, ≠, >, <, ≥, ≤, in, not
   * in
   */
  | "switch"
  /**
   * contains, not contains, start with, end with, is, is not, empty, not empty, =, ≠, >, <, ≥,
   * ≤
   */
  | "loop"
  /** =, ≠, contains, not contains, start with, end with, empty, not empty */
  | "filter"
  /**
   * =, ≠, >, <, ≥, ≤, contains, not contains, start with, end with, in, not in, empty, not
   * empty
   */
  | "metadata"
  /** overwrite, clear, set, append, extend, remove_first, remove_last, +=, -=, *=, /= */
  | "assign"
  /** and, or */
  | "logic";

/** Icon names an icon of a component. */
export type Icon =
  /** VariableAssigner */
  | "assign"
  /**
   * Canvas, YahooFinance, WenCai, Email, Parser, TokenChunker, TitleChunker, Extractor, Tokenizer,
   * Compiler
   */
  | "box"
  /** CodeExec */
  | "code"
  /** DataOperations, ExeSQL */
  | "data"
  /** IterationItem, LoopItem */
  | "enter"
  /** ExitLoop */
  | "exit"
  /** Switch */
  | "fork"
  /** UserFillUp */
  | "form"
  /** Invoke, Browser */
  | "globe"
  /** ExcelProcessor */
  | "grid"
  /** ListOperations */
  | "list"
  /** Loop */
  | "loop"
  /** VariableAggregator */
  | "merge"
  /** DocGenerator */
  | "note"
  /** File */
  | "open"
  /** Begin */
  | "play"
  /** Iteration */
  | "repeat"
  /** Agent */
  | "robot"
  /**
   * Retrieval, TavilySearch, TavilyExtract, DuckDuckGo, Google, SearXNG, Bing, BGPT, Keenable,
   * QueritSearch, QueritContents, Wikipedia, ArXiv, PubMed, GitHub, GoogleScholar, AkShare,
   * Crawler, DeepL, Jin10, QWeather, TuShare
   */
  | "search"
  /** Categorize */
  | "sort"
  /** LLM */
  | "spark"
  /** Message */
  | "speech"
  /** StringTransform */
  | "text";

/** wireEvents are the types of events that RAGFlow's clients know. */
export const wireEvents: readonly EventType[] = [
  "workflow_started",
  "node_started",
  "node_finished",
  "message",
  "message_end",
  "user_inputs",
  "workflow_finished",
];

/** canceledText is the output of a canceled run. */
export const canceledText = "Task has been canceled";

/** Diagnostic is one finding of `validate`. */
export interface Diagnostic {
  /** error or warning */
  severity: Severity;
  /** a stable word for the kind of diagnostic */
  code: Code;
  /** what is wrong, for people */
  message: string;
  /** component id; left out for the document */
  node?: string;
  /** parameter with its path, such as conditions[0].to */
  param?: string;
}

/** Usage counts tokens of model calls. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  calls?: number;
  cost?: number;
}
