// Package packaging tests the files that deploy easel: the image (Dockerfile), two hosts with NATS
// and PostgreSQL on one machine (compose), and the chart for Kubernetes. It contains only tests.
//
// The tests need neither Docker nor Helm: they build and start the program with the commands of the
// image, and render the chart with a subset of Helm's template functions. That subset is compared
// with testdata/*.golden.yaml, which `make chart` generates with Helm itself.
package packaging
