// Servers that others put under load.
package main

import (
	"fmt"
	"net"
)

func init() {
	questions["echo_server"] = func(asked request) answer {
		listener := listen()
		if asked.hog {
			go hog()
		}
		serve(listener, func(peer net.Conn) { go echo(peer, asked.buffer) })
		return answer{}
	}
	questions["close_server"] = func(request) answer {
		serve(listen(), func(peer net.Conn) { _ = peer.Close() })
		return answer{}
	}
}

func listen() net.Listener {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	mustWork(err)
	fmt.Printf("{\"port\": %d}\n", listener.Addr().(*net.TCPAddr).Port)
	return listener
}

// Until it is killed. Go sets TCP_NODELAY by itself.
func serve(listener net.Listener, handle func(net.Conn)) {
	for {
		if peer, err := listener.Accept(); err == nil {
			handle(peer)
		}
	}
}

func echo(peer net.Conn, size int) {
	defer func() { _ = peer.Close() }()
	buffer := make([]byte, size)
	for {
		got, err := peer.Read(buffer)
		if err != nil {
			return
		}
		if _, err = peer.Write(buffer[:got]); err != nil {
			return
		}
	}
}

var hogged uint64

// Takes no account of anybody.
func hog() {
	for {
		hogged++
	}
}
