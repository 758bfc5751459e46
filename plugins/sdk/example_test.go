package sdk_test

import (
	"fmt"

	"github.com/easel-canvas/easel/plugins/sdk"
)

type weatherArgs struct {
	City string `json:"city" doc:"Name of the city."`
}

// The schemas of params, arguments and outputs are derived from the tags of their structs.
func ExampleSchemaOf() {
	schema := sdk.SchemaOf[weatherArgs]()
	fmt.Println(schema.Properties["city"].Description, schema.Required)
	// Output: Name of the city. [city]
}

// A plugin fails with a code, which the node shows.
func ExampleFail() {
	err := sdk.Fail(sdk.InvalidArgument, "city %q is unknown", "Atlantis")
	fmt.Println(err, sdk.IsCode(err, sdk.InvalidArgument))
	// Output: invalid_argument: city "Atlantis" is unknown true
}
