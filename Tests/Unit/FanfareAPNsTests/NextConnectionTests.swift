import Testing

@testable import FanfareAPNs

@Suite struct NextConnectionTests {
    /// Returns the connections chosen one after the other while there is room, from ones with the given room.
    private func chosen(_ offers: [(room: Int, errors: Int, isSlow: Bool)]) -> Int? {
        var next = NextConnection()
        for (index, offer) in offers.enumerated() {
            next.offer(
                index, room: offer.room, inFlight: 1000 - offer.room, errors: offer.errors, isSlow: offer.isSlow)
        }
        return next.index
    }

    @Test func aConnectionIsChosenByErrorsThenSlownessThenLoad() {
        #expect(chosen([]) == nil)
        #expect(chosen([(0, 0, false)]) == nil)
        #expect(chosen([(9, 1, false), (1, 0, true)]) == 1)
        #expect(chosen([(9, 0, true), (1, 0, false)]) == 1)
        #expect(chosen([(1, 0, false), (9, 0, false), (9, 0, false)]) == 1)
    }

    /// Little's law: a connection that answers three times as late gets a third of the pushes, while all have room.
    @Test func connectionThatAnswersLaterGetsFewerRequests() {
        var inFlight = [0, 0, 0]
        let lags = [1, 3, 1]
        for _ in 0..<1000 {
            var next = NextConnection()
            for index in inFlight.indices {
                next.offer(
                    index, room: 1000 - inFlight[index], inFlight: inFlight[index], errors: 0, isSlow: false,
                    lag: lags[index])
            }
            if let index = next.index { inFlight[index] += 1 }
        }
        #expect(inFlight.reduce(0, +) == 1000 && 3 * inFlight[1] <= inFlight[0], "\(inFlight)")
        var last = NextConnection()
        last.offer(0, room: 0, inFlight: 1000, errors: 0, isSlow: false)
        last.offer(1, room: 2, inFlight: 998, errors: 0, isSlow: false, lag: 30)
        #expect(last.index == 1 && last.room == 2, "where nobody else has room")
    }

    /// A pull that takes all it may would give a connection that answers ten times as late as much as the others in a short goal.
    @Test(arguments: [2, 4], [200, 400, 2000]) func aGoalOfAFewPullsLeavesASlowConnectionItsPart(
        connections: Int, goal: Int
    ) {
        var inFlight = [Int](repeating: 0, count: connections)
        var left = goal
        while left > 0 {
            var next = NextConnection()
            for index in inFlight.indices {
                next.offer(
                    index, room: 10_000, inFlight: inFlight[index], errors: 0, isSlow: false,
                    lag: index == 0 ? 10 : 1)
            }
            let sent = min(left, next.room)
            inFlight[next.index!] += sent
            left -= sent
        }
        let share = goal / connections
        #expect(inFlight[0] <= (share + 128) / 5, "\(inFlight)")
        #expect(goal < 2000 || inFlight[0] >= share / 20, "\(inFlight)")
    }

    /// A goal is delivered when the last of its connections has carried its share, so a wide connection gets no greater share.
    @Test func aGoalSpreadsOverConnectionsOfAllWidthsAlike() {
        let widths = [1000, 300, 500, 250]
        var inFlight = [0, 0, 0, 0]
        for _ in 0..<800 {
            var next = NextConnection()
            for index in widths.indices {
                next.offer(
                    index, room: widths[index] - inFlight[index], inFlight: inFlight[index], errors: 0, isSlow: false)
            }
            if let index = next.index { inFlight[index] += 1 }
        }
        #expect(inFlight == [200, 200, 200, 200])
    }
}
