package engine

import "testing"

func TestPricesCost(t *testing.T) {
	table, err := ReadPrices(Object("small", Object("input", 100, "output", 400), "big@Vendor",
		Object("input", 1.5, "output", 2)))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		llm           string
		input, output int64
		want          int64 // millionths
	}{
		{"small@Local", 1000, 500, 300_000},
		{"small", 1, 0, 100},
		{"big@Vendor", 1, 0, 2}, // rounded up
		{"big@Other", 1000, 1000, 0},
	} {
		if got := table.Cost(test.llm, test.input, test.output); got != test.want {
			t.Errorf("cost of %s: %d, want %d", test.llm, got, test.want)
		}
	}
	if got := Prices(nil).Cost("small", 1, 1); got != 0 {
		t.Errorf("cost without a table: %d", got)
	}
}
