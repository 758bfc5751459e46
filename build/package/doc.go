// Package packaging holds what carries easel to other machines: the image (Dockerfile), two hosts
// with NATS and PostgreSQL on one machine (compose), and the chart for Kubernetes. It has tests
// only; nobody imports it.
//
// The tests need neither Docker nor Helm: they build the program as the image does, start it as the
// image does, and render the chart with a small part of Helm's template functions. That part is
// checked against testdata/*.golden.yaml, which `make chart` writes with the real Helm.
package packaging
