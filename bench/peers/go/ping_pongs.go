// Two goroutines of which always one waits for the other.
package main

func init() {
	timed("ping_pong_channel", 100_000, 1, channelPingPong)
	timed("ping_pong_notify", 100_000, 1, notifyPingPong)
	timed("ping_pong_oneshot", 100_000, 1, oneshotPingPong)
}

func channelPingPong(count uint64) {
	ping, pong := make(chan uint64, 1), make(chan uint64, 1)
	go func() {
		for one := range ping {
			pong <- one
		}
		close(pong)
	}()
	var sum uint64
	for i := range count {
		ping <- i
		sum += <-pong
	}
	mustBe(sum, sumBelow(count))
	close(ping)
	<-pong
}

// What one has in place of a notify: a channel with room for one, and a send that never waits.
func notifyOne(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

func notifyPingPong(count uint64) {
	ping, pong, ended := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	go func() {
		for range count {
			<-ping
			notifyOne(pong)
		}
		close(ended)
	}()
	for range count {
		notifyOne(ping)
		<-pong
	}
	<-ended
}

// Each message brings the channel for its answer.
type ball struct {
	number uint64
	back   chan ball
}

func oneshotPartner(in chan ball, ended chan struct{}) {
	defer close(ended)
	for {
		came, more := <-in
		if !more {
			return
		}
		in = make(chan ball, 1)
		came.back <- ball{came.number, in}
	}
}

func oneshotPingPong(count uint64) {
	out, ended := make(chan ball, 1), make(chan struct{})
	go oneshotPartner(out, ended)
	var sum uint64
	for i := range count {
		back := make(chan ball, 1)
		out <- ball{i, back}
		came := <-back
		sum += came.number
		out = came.back
	}
	mustBe(sum, sumBelow(count))
	close(out)
	<-ended
}
