// Package limit bounds model calls: how many run at once, and how many requests and tokens start
// within a minute, for each run, each tenant and each model.
//
// A call enters the [Limiter] and waits in a queue until its run, its tenant and its model have
// room for it. The calls of one run to one model start in the order in which they came. A free slot
// goes to the tenant that was served longest ago, and of its runs to the one served longest ago, so
// a run with a hundred waiting calls delays a run with one by a single call.
//
// A server that requests a pause (Retry-After) pauses its model for all runs.
//
// A minute is any 60 seconds, not one of the clock. A [Limiter] belongs to one host: hosts that
// share tenants and models each allow the limits.
package limit
