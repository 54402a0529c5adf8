module starling

go 1.26.6
