// Package quota counts the model tokens of tenants and their callers, day by
// day, and says when a quota is used up.
//
// A caller is whose tokens are counted together: an API key, a login or an
// embedding page. What it uses counts for its tenant as well, and each of the
// two may have a quota. A [Meter] belongs to one host; hosts that share a
// records store share what is counted.
//
// No model call waits for a write. What was used is kept in memory, is written
// about once a second and at the end of a run, and together with it comes back
// what other hosts have used. So a host that is killed forgets the tokens of its
// last second, and several hosts, or several calls at once, may use a little
// more than the quota: a call that was let in is finished.
//
// The providers in package model ask and tell; who wants to know how much is left
// asks [Meter.State]. A day is a day in UTC.
package quota
