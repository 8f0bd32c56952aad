import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct RenewalBookTests {
    private let request = StartRequest(
        activity: "card", token: [1], attributesType: "Match", alert: AlertText(title: "Kick-off", body: "Now"))

    /// Returns the id of a card: that of the app for the first one, that of its edition for the others.
    private func id(_ edition: Int) -> ActivityID { ActivityID(UInt64(100 + edition)) }
    private func slot(_ edition: Int) -> ActivitySlot { ActivitySlot(UInt32(edition)) }

    private func renewed(_ times: Int) -> RenewalBook {
        var book = RenewalBook()
        for edition in 0..<times {
            book.add(slot(edition), request: request, edition: edition + 1)
            book.begin(slot(edition), successor: id(edition + 1))
            book.name(slot(edition + 1), id(edition + 1), after: (slot(edition), id(edition)))
            book.handOver(slot(edition), to: slot(edition + 1))
            book.removeNames(of: slot(edition))
        }
        return book
    }

    private func violation(of book: RenewalBook, alive: Set<Int>) -> String? {
        book.violation { wanted in alive.first { id($0) == wanted }.map { slot($0) } }
    }

    @Test func nameMeansTheOldCardUntilTheHandOver() {
        var book = RenewalBook()
        book.add(slot(0), request: request, edition: 1)
        book.begin(slot(0), successor: id(1))
        book.name(slot(1), id(1), after: (slot(0), id(0)))
        #expect(book.successor(of: slot(0)) == id(1))
        #expect(book.card(of: id(0)) == id(0) && !book.isHandedOver(id(0)))
        #expect(book.underWay.map(\.successor) == [id(1)])
        book.handOver(slot(0), to: slot(1))
        #expect(book.card(of: id(0)) == id(1) && book.isHandedOver(id(0)))
        #expect(book.successor(of: slot(0)) == nil && book[slot(0)] == nil)
        #expect(violation(of: book, alive: [1]) == nil)
    }

    @Test func firstNameAndThoseOfTheLastCardsMeanTheNewestCard() {
        let book = renewed(6)
        #expect(book.handedOverCount == Renewal.namesMax)
        for name in [0, 3, 4, 5] { #expect(book.card(of: id(name)) == id(6)) }
        for name in [1, 2, 6] { #expect(!book.isHandedOver(id(name))) }
        #expect(violation(of: book, alive: [6]) == nil)
    }

    @Test func nothingStaysOfACardThatGoes() {
        var book = renewed(2)
        book.add(slot(2), request: request, edition: 3)
        book.remove(slot(2))
        book.removeNames(of: slot(2))
        #expect(book.isEmpty && !book.hasNames)
        #expect(book.card(of: id(0)) == id(0))
    }

    @Test func failedRenewalHasNoSuccessorAndANewRequestAllowsAnother() {
        var book = RenewalBook()
        book.add(slot(0), request: request, edition: 4)
        book.begin(slot(0), successor: id(1))
        book.fail(slot(0))
        #expect(book[slot(0)]?.hasFailed == true && book.successor(of: slot(0)) == nil)
        book.replaceRequest(of: slot(0), with: request)
        #expect(book[slot(0)]?.hasFailed == false && book[slot(0)]?.edition == 4)
    }

    @Test func newRequestKeepsARenewalThatIsUnderWay() {
        var book = RenewalBook()
        book.replaceRequest(of: slot(0), with: request)
        #expect(book[slot(0)]?.edition == 1)
        book.begin(slot(0), successor: id(1))
        book.replaceRequest(of: slot(0), with: request)
        #expect(book.successor(of: slot(0)) == id(1))
    }

    @Test func namesOfACardThatIsGoneAreAViolation() {
        let book = renewed(1)
        #expect(violation(of: book, alive: [1]) == nil)
        #expect(violation(of: book, alive: []) != nil)
    }
}
