package modeltest

// Structured is a form in which models write JSON, and whether it can be read without asking again.
type Structured struct {
	Name, Text string
	Fails      string // part of the error when the model repeats it; "" means it is read
	Requests   int    // that are made; 0 means one
}

// Structureds returns forms of the answer {"city": "Paris", "days": 3}.
func Structureds() []Structured {
	return []Structured{
		{Name: "JSON", Text: `{"city":"Paris","days":3}`},
		{Name: "fenced", Text: "```json\n{\"city\":\"Paris\",\"days\":3}\n```"},
		{Name: "prose around", Text: "Here you are: {\"city\":\"Paris\",\"days\":3} Enjoy."},
		{Name: "after reasoning", Text: "<think>{\"city\":\"Rome\"}</think>{\"city\":\"Paris\",\"days\":3}"},
		{
			Name: "after a lone closing mark",
			Text: "{\"city\":\"Rome\",\"days\":1}</think>{\"city\":\"Paris\",\"days\":3}",
		},
		{Name: "single quotes", Text: `{'city': 'Paris', 'days': 3}`},
		{Name: "trailing commas", Text: `{"city":"Paris","days":3,}`},
		{Name: "comments", Text: "{\n// the city\n\"city\":\"Paris\",\"days\":3}"},
		{Name: "cut off", Text: `{"city":"Paris","days":3`},
		{Name: "wrapped", Text: `{"output":{"city":"Paris","days":3}}`},
		{Name: "wrapped in another name", Text: `{"result":{"city":"Paris","days":3}}`},
		{Name: "as a list of one", Text: `[{"city":"Paris","days":3}]`},
		{Name: "numbers as text", Text: `{"city":"Paris","days":"3"}`},
		{Name: "a member is missing", Text: `{"city":"Paris"}`, Fails: "days", Requests: 2},
		{Name: "a wrong type", Text: `{"city":"Paris","days":"soon"}`, Fails: "days", Requests: 2},
		{Name: "prose alone", Text: `I do not know.`, Fails: "JSON"},
	}
}
