package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScheduleTooOften(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		When
		shortest time.Duration
		ok       bool
	}{
		{When{Every: "1m"}, time.Minute, true},
		{When{Every: "59s"}, time.Minute, false},
		{When{Cron: "* * * * *"}, time.Minute, true},
		{When{Cron: "*/30 * * * * *"}, time.Minute, false},
		{When{Cron: "0,59 0 3 1 1 *"}, time.Minute, false},
		{When{Cron: "*/5 * * * *"}, 5 * time.Minute, true},
		{When{Cron: "0,59 * * * *"}, 5 * time.Minute, false},
		{When{Cron: "59,0 0,23 * * 1,2"}, 5 * time.Minute, false},
	} {
		err := test.check(now, test.shortest)
		if test.ok {
			require.NoError(t, err, "%+v", test.When)
		} else {
			require.ErrorContains(t, err, "too often", "%+v", test.When)
		}
	}
}

func TestNextTimes(t *testing.T) {
	set := time.Date(2026, 11, 20, 12, 0, 0, 400e6, time.UTC)
	next := func(s Schedule, now, last time.Time) (out []string) {
		s.Set = set
		list, err := s.Next(2, now, last)
		require.NoError(t, err)
		for _, v := range list {
			out = append(out, v.Format("02 15:04:05 MST"))
		}
		return out
	}
	every, daily := Schedule{When: When{Every: "10m"}}, Schedule{When: When{Cron: "0 3 * * *", Zone: "Asia/Tokyo"}}
	require.Equal(t, []string{"20 12:10:00 UTC", "20 12:20:00 UTC"}, next(every, set, time.Time{}))
	require.Equal(t, []string{"20 12:30:00 UTC", "20 12:40:00 UTC"}, next(every, set.Add(25*time.Minute), time.Time{}))
	require.Equal(
		t, []string{"20 12:31:00 UTC", "20 12:41:00 UTC"},
		next(every, set.Add(25*time.Minute), set.Add(21*time.Minute)),
	)
	require.Equal(t, []string{"21 03:00:00 JST", "22 03:00:00 JST"}, next(daily, set, time.Time{}))
}
