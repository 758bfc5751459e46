module hello

go 1.24.0

require github.com/easel-canvas/easel/plugins/sdk v0.1.0

require github.com/extism/go-pdk v1.1.3 // indirect

// The SDK came with the program that made this folder.
replace (
	github.com/easel-canvas/easel/plugins/sdk => ./easel/sdk
	github.com/extism/go-pdk => ./easel/go-pdk
)
