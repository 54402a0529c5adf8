package snapshot_test

var children = map[string]func(string){}
