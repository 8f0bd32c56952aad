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

    private static func book(requested: UInt64, ticketAgeMax: UInt64 = 1 << 31) -> ClaimBook {
        var book = ClaimBook(requested: requested, ticketAgeMax: ticketAgeMax)
        book.keep(ClaimLimits())
        for slot in 0..<4 as Range<UInt32> { book.name(ActivitySlot(slot), ActivityMark(rawValue: slot)) }
        return book
    }

    /// Requests count up for years, and half of a ticket is kept for each activity.
    @Test(arguments: [0, 1 << 31 - 5, 1 << 32 - 5, 5 << 32 - 1, .max >> 1] as [UInt64])
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
    @Test func oldTicketsAreForgotten() throws {
        let alerts = try #require(Self.alerts)
        var book = Self.book(requested: 0, ticketAgeMax: 8)
        book.claim(alerts, for: ActivitySlot(0))
        for _ in 0..<9 {
            book.claim(alerts, for: ActivitySlot(1))
            let taken = book.takeRequest(at: 0)
            _ = book.confirm(try #require(taken).ticket)
        }
        #expect(!book.isNamed(ActivitySlot(0), since: 1) && book.isClaimed(ActivitySlot(1), since: 9))
    }
}
