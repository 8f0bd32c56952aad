import Testing

@testable import FanfareAPNs

@Suite struct PullGateTests {
    private var gate = PullGate()
    private var random = SplitMix(state: 7)
    private var now: Int64 = 1_000_000_000

    @Test mutating func isOpenAtFirst() {
        let room = gate.room(inFlight: 5000, at: now)
        #expect(room == .max)
    }

    /// Each 503 costs its own push, which goes again; to wait as well would cost the others. In whatever order they come.
    @Test(arguments: [0.05, 0.2, 0.25]) mutating func aShareOf503sDoesNotClose(_ share: Double) {
        let seed = UInt64.random(in: .min ... .max)
        var draws = SplitMix(state: seed)
        for _ in 0..<100_000 {
            if Double.random(in: 0..<1, using: &draws) < share {
                let closed = gate.trouble(at: now, using: &random)
                #expect(closed == nil, "seed \(seed)")
            } else {
                gate.accepted()
            }
        }
    }

    /// All the answers of a connection in one read, the refusals behind the others.
    @Test mutating func refusalsThatComeTogetherDoNotClose() {
        for _ in 0..<100 {
            for _ in 0..<800 { gate.accepted() }
            for _ in 0..<200 {
                let closed = gate.trouble(at: now, using: &random)
                #expect(closed == nil)
            }
        }
    }

    /// Whatever was accepted before: no more than a connection's worth is sent in vain.
    @Test mutating func aServiceThatFailsCloses() {
        for _ in 0..<100_000 { gate.accepted() }
        var sent = 0
        while gate.closedUntil == nil, sent < 5000 {
            _ = gate.trouble(at: now, using: &random)
            sent += 1
        }
        #expect(sent <= PullGate.creditMax + PullGate.troubleMax)
    }

    @Test mutating func twoInThreeClose() {
        var closed = false
        for _ in 0..<PullGate.troubleMax where !closed {
            for _ in 0..<2 where !closed { closed = gate.trouble(at: now, using: &random) != nil }
            gate.accepted()
        }
        #expect(closed)
    }

    @Test mutating func opensByOnePush() throws {
        try close()
        #expect(gate.closedUntil != nil)
        let shut = gate.room(inFlight: 0, at: now)
        #expect(shut == 0)
        now = try #require(gate.closedUntil)
        let early = gate.room(inFlight: 3, at: now)
        #expect(early == 0, "answers to pushes from before are still out")
        let one = gate.room(inFlight: 0, at: now)
        #expect(one == 1)
        let second = gate.room(inFlight: 1, at: now)
        #expect(second == 0)
        gate.accepted()
        let all = gate.room(inFlight: 0, at: now)
        #expect(all == .max)
    }

    @Test mutating func eachFailedTryDoublesTheWaitUpToHalfAMinute() throws {
        try close()
        var waits: [Duration] = []
        for _ in 0..<14 {
            now = try #require(gate.closedUntil)
            _ = gate.room(inFlight: 0, at: now)
            waits.append(try #require(gate.trouble(at: now, using: &random)))
        }
        #expect(waits[0] >= .milliseconds(50) && waits[0] <= .milliseconds(100))
        #expect(waits.last.map { $0 >= .seconds(15) && $0 <= .seconds(30) } == true)
    }

    /// 503s for pushes that were in flight when the gate closed are the same trouble, not more of it.
    @Test mutating func stragglersDoNotProlong() throws {
        try close()
        let until = gate.closedUntil
        for _ in 0..<1000 {
            let again = gate.trouble(at: now + 1, using: &random)
            #expect(again == nil)
        }
        gate.accepted()
        #expect(gate.closedUntil == until)
    }

    @Test mutating func faultsInARowClose() {
        for _ in 1..<PullGate.faultsInARowMax {
            let closed = gate.fault(at: now)
            #expect(!closed)
        }
        let closed = gate.fault(at: now)
        #expect(closed)
        let straggler = gate.fault(at: now)
        #expect(!straggler, "reported once")
        #expect(gate.closedUntil == now + 60_000_000_000)
        now += 60_000_000_000
        _ = gate.room(inFlight: 0, at: now)
        let again = gate.fault(at: now)
        #expect(again, "one try is enough")
    }

    @Test mutating func anAcceptedPushForgivesFaults() {
        for _ in 0..<100 {
            for _ in 1..<PullGate.faultsInARowMax {
                let closed = gate.fault(at: now)
                #expect(!closed)
            }
            gate.accepted()
        }
    }

    private mutating func close() throws {
        for _ in 0..<100 where gate.closedUntil == nil { _ = gate.trouble(at: now, using: &random) }
        try #require(gate.closedUntil != nil)
    }
}
