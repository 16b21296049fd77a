module peer_go

go 1.24
