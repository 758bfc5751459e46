package store

import (
	"context"
	"time"
)

// SessionDay is the total of the sessions created on one day (UTC).
type SessionDay struct {
	Day                            time.Time // midnight of the day
	Sessions, Users                int64
	Tokens, Rounds, ThumbUp        int64
	TimedTokens, TimedMilliseconds int64 // of the sessions with a known duration
}

// Days returns totals of sessions per day, earliest first. Days without sessions are
// omitted. It reads no documents.
func (s Sessions) Days(ctx context.Context, f SessionFilter) ([]SessionDay, error) {
	if f.Tenant == "" {
		return nil, fail(ErrInvalid, "sum up sessions: no tenant")
	}
	if _, err := s.othersOf(ctx, &f.Viewer); err != nil {
		return nil, fail(err, "sum up sessions")
	}
	w := f.where()
	out, err := queryAll(ctx, s.read, scanSessionDay, `SELECT create_time / 86400000, COUNT(*), COUNT(DISTINCT user_id),
		CAST(SUM(tokens) AS BIGINT), CAST(SUM(rounds) AS BIGINT), CAST(SUM(thumb_up) AS BIGINT),
		CAST(SUM(CASE WHEN duration_ms > 0 THEN tokens ELSE 0 END) AS BIGINT), CAST(SUM(duration_ms) AS BIGINT)
		FROM sessions`+w.String()+` GROUP BY 1 ORDER BY 1`, w.args...)
	return out, fail(err, "sum up sessions")
}

func scanSessionDay(r row) (SessionDay, error) {
	var v SessionDay
	var day int64
	err := r.Scan(&day, &v.Sessions, &v.Users, &v.Tokens, &v.Rounds, &v.ThumbUp, &v.TimedTokens, &v.TimedMilliseconds)
	v.Day = time.Unix(day*24*60*60, 0).UTC()
	return v, err
}
