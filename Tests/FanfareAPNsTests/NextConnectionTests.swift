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
