import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct PullRoomTests {
    private func room(streams: Int = 1000, window: Int = 1_000_000, inFlight: Int) -> Int {
        PullRoom.requests(streams: streams, window: window, inFlight: inFlight, bodySize: .bytes(100))
    }

    @Test func anIdleConnectionTakesOneRequestWhateverItsWindow() {
        #expect(room(window: 0, inFlight: 0) == 1 && room(window: 0, inFlight: 5) == 0)
        #expect(room(streams: 0, inFlight: 0) == 0, "the peer allows none")
    }

    @Test func aFullConnectionWaitsUntilASixteenthIsFree() {
        #expect(room(streams: 5, inFlight: 95) == 0 && room(streams: 6, inFlight: 94) == 6)
    }

    @Test func aWideConnectionWaitsForAFewRequests() {
        #expect(room(streams: 15, inFlight: 985) == 0 && room(streams: 16, inFlight: 984) == 16)
        #expect(room(window: 399, inFlight: 500) == 0 && room(window: 400, inFlight: 500) == 4)
    }

    @Test func bodiesWithoutASizeFindRoom() {
        #expect(PullRoom.requests(streams: 8, window: 50, inFlight: 0, bodySize: .zero) == 8)
    }
}
