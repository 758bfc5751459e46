// Package quota counts model tokens per tenant, caller and day, and enforces daily quotas.
//
// A caller is a unit of counting: an API key, a login or an embedded page. Its tokens count for its
// tenant as well, and both may have a quota. A [Meter] belongs to one host; hosts that share a
// store share the counts.
//
// Model calls never wait for a write. Tokens are counted in memory and written about once a second
// and at the end of a run; each write returns the totals of all hosts. A killed host therefore
// loses about a second of counts, and concurrent calls or hosts may exceed a quota slightly, since
// a call that was allowed always completes.
//
// Package model calls [Account.Allow] and [Account.Spend]; [Meter.State] reports the remaining
// quota. Days are UTC.
package quota
