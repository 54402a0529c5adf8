// Command compare measures whole processes of starling against a yardstick: wall
// time, CPU time and peak memory, every command in turn, medians and minima.
//
//	go run ./docs/compare -starling ./starling -yardstick DIR
//	go run ./docs/compare -starling ./starling -screen
//
// DIR holds the sources of two small programs: mockmodel, a scripted model server,
// and floor, the least client of it. Without DIR starling is measured against
// itself and a process that does nothing. Tool turns run commands; grep searches
// 50 000 files beside rg and grep, where there are; one command prints 2 GB. With
// -screen sessions in a terminal are measured against the least program that draws on
// one. Run it from the root of the repository.
package main
