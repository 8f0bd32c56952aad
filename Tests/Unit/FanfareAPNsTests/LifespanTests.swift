import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct LifespanTests {
    private var lifespan = Lifespan()

    private mutating func answer(_ count: Int) { for _ in 0..<count { lifespan.answered() } }

    @Test mutating func connectionsNeverCutOffHaveNoLimitOfStreams() {
        answer(10_000)
        #expect(lifespan.streamsMost == .max)
    }

    @Test mutating func anEighthOfAConnectionsRequestsIsInFlight() {
        for _ in 0..<20 {
            answer(100)
            lifespan.cutOff(after: 100)
        }
        #expect((12...13).contains(lifespan.streamsMost))
        for _ in 0..<20 {
            answer(1000)
            lifespan.cutOff(after: 1000)
        }
        #expect((120...125).contains(lifespan.streamsMost))
    }

    /// One request may be in flight, however little was carried.
    @Test mutating func oneRequestMayAlwaysBeInFlight() {
        answer(1)
        lifespan.cutOff(after: 1)
        #expect(lifespan.streamsMost == 1)
    }

    /// A thousand round trips on connections of maximum width bring trust: quickly with many connections, later with one.
    @Test(arguments: [(1, 60), (2, 30), (64, 5)]) mutating func connectionsThatLastAreSoonTrusted(
        connections: Int, roundTrips: Int
    ) {
        answer(100)
        lifespan.cutOff(after: 100)
        var passed = 0
        while lifespan.streamsMost < 1000 {
            answer(connections * lifespan.streamsMost)
            passed += 1
        }
        #expect(passed <= roundTrips)
    }

    /// A router's failure ends all connections at once: that counts as one ending, after all requests that they have carried.
    @Test mutating func connectionsThatEndTogetherHaveOneReason() {
        answer(32_000)
        for _ in 0..<64 { lifespan.cutOff(after: 500) }
        #expect(lifespan.streamsMost >= 1000)
        // The last answers of some connections came just before.
        answer(32_000)
        for _ in 0..<64 {
            answer(3)
            lifespan.cutOff(after: 500)
        }
        #expect(lifespan.streamsMost >= 60)
    }

    /// One push in a hundred, or in a thousand, ends its connection. Of thirty thousand other pushes few are in flight on it then; but
    /// all of a connection's requests always are.
    @Test(arguments: [(1, 100), (8, 100), (64, 100), (1, 1000), (64, 1000)], [1, 2, 3] as [UInt64])
    mutating func ofPushesOnConnectionsThatAreCutOffFewAreInFlight(
        _ peer: (connections: Int, lasting: Int), seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var carried = [Int](repeating: 0, count: peer.connections)
        var widths = [Int](repeating: 1, count: peer.connections)
        var (told, lost) = (0, 0)
        while told + lost < 30_000 {
            for index in widths.indices {
                let width = widths[index]
                let ends = (0..<width).first { _ in Int.random(in: 0..<peer.lasting, using: &random) == 0 }
                let answers = ends ?? width
                for _ in 0..<answers {
                    lifespan.answered()
                    carried[index] += 1
                    if widths[index] < min(1000, lifespan.streamsMost) {
                        widths[index] = carried[index] == 1 ? min(lifespan.streamsMost, 21) : widths[index] + 1
                    }
                }
                told += answers
                guard ends != nil else { continue }
                lost += width - answers
                lifespan.cutOff(after: carried[index])
                (carried[index], widths[index]) = (0, 1)
            }
            #expect(lifespan.violation() == nil)
        }
        #expect(lost * 7 <= told + lost, "\(lost) of \(told + lost)")
    }
}
