package engine_test

import (
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// Values keep the order of keys and the text of numbers.
func ExampleParseJSON() {
	v, err := engine.ParseJSON([]byte(`{"b": 1.50, "a": [true, null, 9007199254740993]}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(v.JSON())
	fmt.Println(v.Get("a").At(2), v.Get("missing").IsNull())
	// Output:
	// {"b":1.50,"a":[true,null,9007199254740993]}
	// 9007199254740993 true
}

func ExampleValue_With() {
	v := engine.Object("name", "Ann", "age", 41)
	older := v.With("age", engine.Int(42))
	fmt.Println(v.JSON(), older.JSON())
	// Output: {"name":"Ann","age":41} {"name":"Ann","age":42}
}

func ExamplePut() {
	v := engine.Put(engine.Null, []string{"user", "address", "city"}, engine.String("Oslo"))
	fmt.Println(v.JSON(), engine.Walk(v, []string{"user", "address", "city"}))
	// Output: {"user":{"address":{"city":"Oslo"}}} Oslo
}

func ExampleParseRef() {
	for _, text := range []string{"LLM:A@content", "sys.query", "env.city", "Agent:B@structured.items"} {
		ref := engine.ParseRef(text)
		fmt.Println(ref.String())
	}
	// Output:
	// {LLM:A@content}
	// {sys.query}
	// {env.city}
	// {Agent:B@structured.items}
}
