package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCronLines(t *testing.T) {
	for line, want := range map[string]string{
		"30 7 * * mon-fri":     "0 30 7 * * 1,2,3,4,5",
		"*/20 * * * *":         "0 0,20,40 * * * *",
		"5/20 0 1 JAN,jul *":   "0 5,25,45 0 1 1,7 *",
		"15 0 0 ? * 0":         "15 0 0 * * 0",
		"0 12 * * 5-7":         "0 0 12 * * 0,5,6",
		"0 0 13 * fri":         "0 0 0 13 * 5",
		" 0  9-17/4 */10 * * ": "0 0 9,13,17 1,11,21,31 * *",
		"@daily":               "0 0 0 * * *",
		"@Weekly":              "0 0 0 * * 0",
		"59 59 23 31 12 6":     "59 59 23 31 12 6",
		"0 0 29 2 *":           "0 0 0 29 2 *",
		"1,2,3-5 0 * * *":      "0 1,2,3,4,5 0 * * *",
		"0 0 * * */2":          "0 0 0 * * 0,2,4,6",
		"* * * * *":            "0 * * * * *",
		"* * * * * *":          "* * * * * *",
		"0 0 1-31 * mon": "0 0 0 " +
			"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31 * 1",
		"7/9223372036854775807 0 * * *": "0 7 0 * * *",
		"10/20 10/6 * * *":              "0 10,30,50 10,16,22 * * *",
	} {
		c, err := parseCron(line, time.UTC)
		require.NoError(t, err, line)
		same, err := parseCron(want, time.UTC)
		require.NoError(t, err)
		require.Equal(t, same, c, "%s means %s", line, want)
	}
}

func TestCronSaysWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		strings.Repeat("1,", 501) + "1 * * * *": "at most 1000 are read",
		"":                                      "0 fields; expected 5",
		"now and then":                          "3 fields",
		"* * * * * * *":                         "7 fields",
		"61 * * * *":                            `minute "61": values are 0 to 59`,
		"0 24 * * *":                            `hour "24": values are 0 to 23`,
		"0 0 0 * *":                             `day of the month "0": values are 1 to 31`,
		"0 0 * 13 *":                            `month "13"`,
		"0 0 * * 8":                             `day of the week "8"`,
		"0 0 * mon *":                           `month "mon"`,
		"0 0 * * funday":                        `day of the week "funday"`,
		"5-1 * * * *":                           "ends before it begins",
		"fri-mon * * * *":                       `minute "fri-mon"`,
		"0 0 * * fri-mon":                       "ends before it begins",
		"*/0 * * * *":                           "a step is a number from 1 on",
		"*/x * * * *":                           "a step",
		"1,,2 * * * *":                          `minute ""`,
		"1-2-3 * * * *":                         `minute "1-2-3"`,
		"+1 * * * *":                            `minute "+1"`,
		"-1 * * * *":                            `minute "-1"`,
		"@reboot":                               "1 fields",
	} {
		_, err := parseCron(line, time.UTC)
		require.ErrorContains(t, err, want, line)
	}
}

// The next time is the first matching second, also over changes of the clock.
func TestCronNext(t *testing.T) {
	at := func(zone, text string) time.Time {
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		v, err := time.ParseInLocation("2006-01-02 15:04:05", text, loc)
		require.NoError(t, err)
		return v
	}
	for _, c := range []struct{ line, from, zone, want string }{
		{"30 7 * * mon-fri", "2026-11-20 08:00:00", "Europe/Berlin", "2026-11-23T07:30:00+01:00"},
		{"0 0 1 1 *", "2026-11-20 08:00:00", "UTC", "2027-01-01T00:00:00Z"},
		{"0 0 29 2 *", "2026-03-01 00:00:00", "UTC", "2028-02-29T00:00:00Z"},
		{"0 0 13 * fri", "2026-11-14 00:00:00", "UTC", "2026-11-20T00:00:00Z"}, // either day
		{"0 0 31 * *", "2026-11-01 00:00:00", "UTC", "2026-12-31T00:00:00Z"},
		{"30 2 * * *", "2026-03-28 12:00:00", "Europe/Berlin", "2026-03-30T02:30:00+02:00"}, // left out on the 29th
		{"30 2 * * *", "2026-10-25 01:00:00", "Europe/Berlin", "2026-10-25T02:30:00+02:00"},
		{"0 12 * * *", "2026-10-24 12:00:00", "Europe/Berlin", "2026-10-25T12:00:00+01:00"},
		{"0 0 * * *", "2026-04-23 12:00:00", "Africa/Cairo", "2026-04-25T00:00:00+03:00"}, // the 24th begins at 1
		{"* * * * * *", "2026-01-01 00:00:00", "UTC", "2026-01-01T00:00:01Z"},
	} {
		cr, err := parseCron(c.line, at(c.zone, c.from).Location())
		require.NoError(t, err)
		got, ok := cr.next(at(c.zone, c.from))
		require.True(t, ok, c.line)
		require.Equal(t, c.want, got.Format(time.RFC3339), "%s after %s", c.line, c.from)
	}
	never, err := parseCron("0 0 30 2 *", time.UTC)
	require.NoError(t, err)
	_, ok := never.next(time.Now())
	require.False(t, ok)

	for _, zone := range []string{
		"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu",
	} {
		for _, from := range []string{
			"2026-03-07 22:10:00", "2026-03-28 23:00:00", "2026-04-04 12:00:00", "2026-04-23 20:00:00",
			"2026-10-03 20:00:00", "2026-10-24 22:59:59", "2026-10-29 22:00:00", "2026-10-31 20:00:00",
		} {
			for _, line := range []string{"*/17 1-3 * * *", "0 0 * * *", "30 2 * * sun", "45 */5 * * *"} {
				start := at(zone, from)
				c, err := parseCron(line, start.Location())
				require.NoError(t, err)
				want := start.Add(time.Second)
				for !c.fits(want) {
					want = want.Add(time.Second)
					if want.Sub(start) > 26*time.Hour {
						break
					}
				}
				got, ok := c.next(start)
				require.True(t, ok)
				if want.Sub(start) <= 26*time.Hour {
					require.Equal(t, want.String(), got.String(), "%s in %s after %s", line, zone, from)
				} else {
					require.True(t, got.After(want), "%s in %s after %s", line, zone, from)
				}
			}
		}
	}
}

// fits reports whether a line matches a second.
func (c *cron) fits(v time.Time) bool {
	return c.has(cronSecond, v.Second()) && c.has(cronMinute, v.Minute()) && c.has(cronHour, v.Hour()) && c.has(
		cronMonth, int(v.Month()),
	) && c.onDay(v)
}

func FuzzCron(f *testing.F) {
	for _, line := range []string{
		"30 7 * * mon-fri", "@daily", "*/7,1-3/2 ? 31 2 0-7", "* * * * * *", "5/9223372036854775807 * * * *",
	} {
		f.Add(line, int64(1e9))
	}
	zone, err := time.LoadLocation("Australia/Lord_Howe")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, line string, from int64) {
		c, err := parseCron(line, zone)
		if err != nil {
			return
		}
		start := time.Unix(from%4e9, 0)
		next, ok := c.next(start)
		if ok && (!next.After(start) || !c.fits(next)) {
			t.Fatalf("%q: %s after %s", line, next, start)
		}
	})
}
