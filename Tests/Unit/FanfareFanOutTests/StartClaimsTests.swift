import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StartClaimsTests {
    /// Starts wait, some of them go, and the store answers requests in order.
    @Test(arguments: 0..<20 as Range<UInt64>) func startsAreNamedInOrderWithinTheirBoundAndReturnWithTheirTickets(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var claims = StartClaims()
        var line: [ActivitySlot] = []
        var open: [(ticket: UInt64, slots: [ActivitySlot])] = []
        var ticket: UInt64 = 0
        for step in 0..<2000 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<3:
                claims.append(ActivitySlot(UInt32(step)))
                line.append(ActivitySlot(UInt32(step)))
            case 3:
                let durable = ticket - min(ticket, UInt64.random(in: 0...4, using: &random))
                let taken = claims.takeDurable(through: durable)
                #expect(
                    taken.map(\.ticket) == open.map(\.ticket).filter { $0 <= durable }, "seed \(seed), step \(step)")
                #expect(taken.flatMap(\.slots) == open.filter { $0.ticket <= durable }.flatMap(\.slots))
                open.removeAll { $0.ticket <= durable }
            default:
                ticket += 1
                let (countMax, unused) = (Int.random(in: 1...10, using: &random), Int.random(in: 0...3, using: &random))
                let room = max(0, countMax - unused - open.reduce(0) { $0 + $1.slots.count })
                let due = Array(line.filter { $0.rawValue % 4 != 0 }.prefix(room))
                let taken = claims.takeNext(upTo: countMax, beside: unused, ticket: ticket) { $0.rawValue % 4 != 0 }
                #expect(taken == due, "seed \(seed), step \(step)")
                // The line is read up to the last one taken, and to its end if there is room for more.
                if taken.count < room { line = [] }
                if let last = taken.last { line.removeAll { $0.rawValue <= last.rawValue } }
                if !taken.isEmpty { open.append((ticket, taken)) }
            }
            #expect(claims.unnamedCount == line.count && claims.violation() == nil, "seed \(seed), step \(step)")
            let tickets = Set(open.map(\.ticket))
            #expect((ticket - min(ticket, 20)...ticket).allSatisfy { claims.isRequested($0) == tickets.contains($0) })
        }
    }

    @Test func aRequestBehindALaterOneIsAViolation() {
        var claims = StartClaims()
        for slot in UInt32(0)..<2 { claims.append(ActivitySlot(slot)) }
        let first = claims.takeNext(upTo: 1, beside: 0, ticket: 5) { _ in true }
        #expect(first.count == 1 && claims.violation() == nil)
        let second = claims.takeNext(upTo: 2, beside: 0, ticket: 4) { _ in true }
        #expect(second.count == 1 && claims.violation() != nil)
    }
}
