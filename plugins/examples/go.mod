module github.com/easel-canvas/easel/plugins/examples

go 1.24.0

require github.com/easel-canvas/easel/plugins/sdk v0.0.0

require github.com/extism/go-pdk v1.1.3 // indirect

replace github.com/easel-canvas/easel/plugins/sdk => ../sdk
