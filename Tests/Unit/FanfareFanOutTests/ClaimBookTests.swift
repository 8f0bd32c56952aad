import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct ClaimBookTests {
    private static let alerts = FreshAlerts(
        [
            IssuedAlert(
                Alert(
                    cause: "goal", class: .essential, text: AlertText(title: "goal", body: ""), freshFor: .seconds(300),
                    highlight: nil), of: TopicID("match/1"), at: 0)
        ], at: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1))

    private static func book(requested: UInt64, slots: UInt32 = 4) -> ClaimBook {
        var book = ClaimBook(requested: requested)
        book.keep(ClaimLimits())
        for slot in 0..<slots { book.name(ActivitySlot(slot), ActivityMark(rawValue: slot)) }
        return book
    }

    /// Requests count up for years, and 16 bits of a ticket are kept for each activity.
    @Test(arguments: [0, 1 << 15 - 5, 1 << 16 - 5, 5 << 16 - 1, 1 << 32 - 5, .max >> 1] as [UInt64])
    func anActivityIsClaimedFromTheAnswerToItsRequest(requested: UInt64) throws {
        let alerts = try #require(Self.alerts)
        var book = Self.book(requested: requested)
        for round in 0..<10 {
            let slot = ActivitySlot(UInt32(round % 3))
            let first = book.next
            #expect(!book.isNamed(slot, since: first) && !book.isClaimed(slot, since: first))
            book.claim(alerts, for: slot)
            #expect(book.isNamed(slot, since: first) && !book.isClaimed(slot, since: first))
            let taken = book.takeRequest(at: 0)
            let request = try #require(taken)
            #expect(request.ticket == first && book.isNamed(slot, since: first) && !book.isClaimed(slot, since: first))
            _ = book.confirm(request.ticket)
            #expect(book.isClaimed(slot, since: first) && !book.isNamed(slot, since: first + 1))
            #expect(!book.isNamed(ActivitySlot(3), since: 1))
            #expect(book.violation(slots: 4) == nil)
        }
    }

    /// A ticket of long ago would look like one that is to come.
    @Test(arguments: [2, 100_000] as [UInt32]) func oldTicketsAreForgotten(slots: UInt32) throws {
        let alerts = try #require(Self.alerts)
        var book = Self.book(requested: 0, slots: slots)
        let old = ActivitySlot(slots - 1)
        book.claim(alerts, for: old)
        for request in 1...200_000 {
            book.claim(alerts, for: ActivitySlot(0))
            let taken = book.takeRequest(at: 0)
            _ = book.confirm(try #require(taken).ticket)
            guard !book.isNamed(old, since: 2), request < 10_000 || book.isClaimed(ActivitySlot(0), since: 9000) else {
                Issue.record("request \(request)")
                return
            }
        }
        #expect(!book.isNamed(old, since: 1))
    }

    // MARK: Waits of audiences

    private static func tenant(_ number: UInt64) -> AudienceTenant {
        AudienceTenant(index: AudienceIndex(Int(number)), number: number)
    }

    @Test func audienceGoesOnWhenTheClaimOfItsNextMemberIsDurable() throws {
        let alerts = try #require(Self.alerts)
        var book = Self.book(requested: 0)
        var wait = ClaimWait()
        var tickets: [UInt64] = []
        for slot in UInt32(0)..<2 {
            let first = book.next
            book.claim(alerts, for: ActivitySlot(slot))
            book.await(ActivitySlot(slot), of: Self.tenant(UInt64(slot) + 1), &wait, since: first)
            let taken = book.takeRequest(at: 0)
            tickets.append(try #require(taken).ticket)
        }
        #expect(!wait.isUnnamed && !book.isIdle)
        let served = [book.confirm(tickets[0]), book.confirm(tickets[1]), book.confirm(tickets[1])]
        #expect(served == [[Self.tenant(1)], [Self.tenant(2)], []] && book.isIdle)
    }

    @Test func audienceWithoutANameWaitsOnceForRoom() {
        var book = Self.book(requested: 0)
        var wait = ClaimWait()
        for _ in 0..<2 { book.await(ActivitySlot(0), of: Self.tenant(1), &wait, since: 1) }
        #expect(wait.isUnnamed && book.hasUnnamed)
        let none = book.takeUnnamed(0, endWait: { _ in true }, awaitsClaim: { _ in true })
        let taken = book.takeUnnamed(9, endWait: { _ in wait.endWaitForRoom() }, awaitsClaim: { _ in true })
        #expect(none.audiences.isEmpty && taken.audiences == [Self.tenant(1)] && taken.rows.isEmpty)
        #expect(!book.hasUnnamed && !wait.isUnnamed)
    }

    @Test func audienceThatHasGoneOnByItselfTakesNoRoom() {
        var book = Self.book(requested: 0)
        for number in UInt64(1)...4 {
            var wait = ClaimWait()
            book.await(ActivitySlot(0), of: Self.tenant(number), &wait, since: 1)
        }
        let taken = book.takeUnnamed(2, endWait: { $0.number > 1 }, awaitsClaim: { _ in true })
        #expect(taken.audiences == [Self.tenant(2), Self.tenant(3)] && book.hasUnnamed)
    }

    /// A million lineups may have left while they waited, and lengthen no turn.
    @Test func aTurnExaminesABoundedNumberOfEntries() {
        var book = Self.book(requested: 0)
        for number in UInt64(1)...10_000 {
            var wait = ClaimWait()
            book.await(ActivitySlot(0), of: Self.tenant(number), &wait, since: 1)
            book.await(ActivitySlot(1), inRow: Int(number), since: 1)
        }
        let room = 100
        var (audiences, rows): ([AudienceTenant], [Int]) = ([], [])
        var turns = 0
        while book.hasUnnamed, turns < 1000 {
            turns += 1
            var examined = 0
            let taken = book.takeUnnamed(
                room,
                endWait: {
                    examined += 1
                    return $0.number > 9990
                },
                awaitsClaim: {
                    examined += 1
                    return $0 > 9990
                })
            #expect(examined > 0 && examined <= 4 * room + 1024, "turn \(turns)")
            audiences += taken.audiences
            rows += taken.rows
        }
        #expect(turns > 10 && turns < 100)
        #expect(audiences.map(\.number) == Array(9991...10_000) && rows == Array(9991...10_000))
    }

    @Test(arguments: [1, 3]) func audiencesAndLineupsGetTheOddNameInTurn(room: Int) {
        var book = Self.book(requested: 0)
        for number in UInt64(1)...12 {
            var wait = ClaimWait()
            book.await(ActivitySlot(0), of: Self.tenant(number), &wait, since: 1)
            book.await(ActivitySlot(1), inRow: Int(number), since: 1)
        }
        var lineupCounts: [Int] = []
        for _ in 0..<4 {
            let taken = book.takeUnnamed(room, endWait: { _ in true }, awaitsClaim: { _ in true })
            #expect(taken.audiences.count + taken.rows.count == room)
            lineupCounts.append(taken.rows.count)
        }
        #expect(lineupCounts == [room / 2, room - room / 2, room / 2, room - room / 2])
    }

    @Test func audiencesThatAreReadyTakeRoomUntilTheyAreVisited() {
        var book = ClaimBook()
        book.keep(ClaimLimits(namedMax: 4))
        var waits = Array(repeating: ClaimWait(), count: 3)
        for place in waits.indices { book.noteReady(Self.tenant(UInt64(place) + 1), &waits[place]) }
        let full = book.room(beside: 0) { waits[$0.index.place - 1].isReady }
        waits[0].noteVisit()
        let some = book.room(beside: 0) { waits[$0.index.place - 1].isReady }
        let beside = book.room(beside: 2) { waits[$0.index.place - 1].isReady }
        #expect(full == 1 && some == 2 && beside == 0)
    }
}
