import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct CompletionBookTests {
    private static func publication(of topic: String, birth: UInt64) -> Publication {
        Publication(
            serial: birth, topicID: TopicID(topic), topic: TopicNumber(place: UInt32(birth), birth: birth),
            topicKind: .football, version: 1, event: .update, state: EncodedState(["n": 1]), priority: .immediate,
            alert: nil, staleAfter: nil, dismissal: nil)
    }

    private static func book() -> CompletionBook {
        var book = CompletionBook()
        book.keep(besideOthers: true)
        book.advance(to: FeedTime(milliseconds: 10), sent: FeedTime(milliseconds: 5))
        return book
    }

    @Test func aNoteThatIsAnothersOrNobodysIsAViolation() {
        var book = Self.book()
        var places = [CompletionPlace(), CompletionPlace()]
        book.note(Self.publication(of: "a", birth: 1), at: &places[0])
        book.note(Self.publication(of: "b", birth: 2), at: &places[1])
        #expect(book.violation(places: [(index: 3, place: places[0]), (index: 4, place: places[1])]) == nil)
        #expect(book.violation(places: [(index: 3, place: places[0]), (index: 4, place: places[0])]) != nil)
        let other = Self.book()
        #expect(other.violation(places: [(index: 3, place: places[0])]) != nil)
        let taken = book.takeAll()
        #expect(taken.count == 2 && book.violation(places: [(index: 3, place: places[0])]) == nil)
    }

    @Test func anUnfinishedAudienceThatIsNotListedIsAViolation() {
        var (book, place) = (Self.book(), CompletionPlace())
        book.noteUnfinished(7, &place)
        #expect(book.violation(places: [(index: 7, place: place)]) == nil)
        #expect(book.violation(places: [(index: 8, place: place)]) != nil)
        let taken = book.takeUnfinished()
        #expect(taken == [7] && book.violation(places: [(index: 7, place: place)]) != nil)
        let wasUnfinished = place.endUnfinished()
        #expect(wasUnfinished && book.violation(places: [(index: 7, place: place)]) == nil)
    }

    @Test func veryManyNotesGoToTheCoreInSeveralTurns() {
        var (book, places) = (Self.book(), [CompletionPlace]())
        for birth in 1...UInt64(CompletionBook.notesMax + 10) {
            var place = CompletionPlace()
            book.note(Self.publication(of: "\(birth)", birth: birth), at: &place)
            places.append(place)
        }
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        let taken = [
            book.take(at: now), book.take(at: now), book.take(at: now), book.take(at: now + CompletionBook.gathering),
        ]
        let counts: [Int?] = [nil, CompletionBook.notesMax, nil, 10]
        #expect(taken.map { $0?.count } == counts)
        #expect(book.violation(places: [(index: 3, place: places[0])]) == nil && book.due == nil)
    }

    @Test func aVoidNoteComesBehindTheNotesBeforeIt() {
        var (book, place) = (Self.book(), CompletionPlace())
        book.note(Self.publication(of: "a", birth: 1), at: &place)
        book.noteVoid(ofLineupsWith: Self.publication(of: "a", birth: 1))
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        let taken = [book.take(at: now), book.take(at: now + CompletionBook.gathering)]
        #expect(taken[0] == nil && taken[1]?.map(\.isVoid) == [false, true])
        book.isSuspended = true
        book.noteVoid(ofLineupsWith: Self.publication(of: "a", birth: 1))
        #expect(book.violation() == nil && book.due == nil)
    }

    @Test func notesWhilePhonesMayHaveDroppedPushesAreAViolation() {
        var (book, place) = (Self.book(), CompletionPlace())
        book.note(Self.publication(of: "a", birth: 1), at: &place)
        book.isSuspended = true
        #expect(book.violation() != nil)
        book.void()
        #expect(book.violation() == nil)
        book.note(Self.publication(of: "a", birth: 1), at: &place)
        #expect(book.violation() == nil && book.due == nil)
    }
}
