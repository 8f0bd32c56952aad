import Testing

@testable import FanfareAPNs

@Suite struct NextConnectionTests {
    /// Those of some whose room is given that are pulled for, one after the other, while there is room.
    private func chosen(_ offers: [(room: Int, errors: Int, isSlow: Bool, isNarrow: Bool)]) -> Int? {
        var next = NextConnection()
        for (index, offer) in offers.enumerated() {
            next.offer(
                index, room: offer.room, errors: offer.errors, isSlow: offer.isSlow, isNarrow: offer.isNarrow)
        }
        return next.index
    }

    @Test func errorsComeBeforeSlownessAndThatBeforeWidthAndRoom() {
        #expect(chosen([]) == nil)
        #expect(chosen([(0, 0, false, false)]) == nil)
        #expect(chosen([(9, 1, false, true), (1, 0, true, false)]) == 1)
        #expect(chosen([(9, 0, true, true), (1, 0, false, false)]) == 1)
        #expect(chosen([(9, 0, false, false), (1, 0, false, true)]) == 1)
        #expect(chosen([(1, 0, false, false), (9, 0, false, false), (9, 0, false, false)]) == 1)
    }

    /// Little's law: whoever answers three times as late has a third of the pushes, while there is room for all.
    @Test func whoAnswersLaterGetsLess() {
        var inFlight = [0, 0, 0]
        let lags = [1, 3, 1]
        for _ in 0..<1000 {
            var next = NextConnection()
            for index in inFlight.indices {
                next.offer(
                    index, room: 1000 - inFlight[index], errors: 0, isSlow: false, lag: lags[index], isNarrow: false)
            }
            if let index = next.index { inFlight[index] += 1 }
        }
        #expect(inFlight.reduce(0, +) == 1000 && 3 * inFlight[1] <= inFlight[0], "\(inFlight)")
        var last = NextConnection()
        last.offer(0, room: 0, errors: 0, isSlow: false, isNarrow: false)
        last.offer(1, room: 2, errors: 0, isSlow: false, lag: 30, isNarrow: false)
        #expect(last.index == 1 && last.room == 2, "where nobody else has room")
    }

    /// A few pushes at a time, as between goals: every connection grows wide by them, and not the widest alone.
    @Test func whatLittleThereIsToPushWarmsAllConnections() {
        let widthMax = 1000
        var widths = [Int](repeating: 1, count: 5)
        var last = 0
        for _ in 0..<100 {
            var left = 100
            while left > 0 {
                var inFlight = [Int](repeating: 0, count: widths.count)
                while left > 0 {
                    var next = NextConnection()
                    for offset in 1...widths.count {
                        let index = (last + offset) % widths.count
                        next.offer(
                            index, room: widths[index] - inFlight[index], errors: 0, isSlow: false,
                            isNarrow: widths[index] < widthMax)
                    }
                    guard let index = next.index else { break }
                    last = index
                    let count = min(left, next.room)
                    inFlight[index] += count
                    left -= count
                }
                // A round trip: each answer makes its connection wider by one.
                for index in widths.indices { widths[index] = min(widthMax, widths[index] + inFlight[index]) }
            }
        }
        #expect(widths.allSatisfy { $0 == widthMax }, "\(widths)")
    }
}
