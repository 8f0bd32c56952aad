import Testing

@testable import FanfareFanOut

@Suite struct TrackedPublicationsTests {
    @Test func publicationIsCompleteOnceTheLastMemberHasItsVersion() {
        var publications = TrackedPublications(capacity: 8)
        for version in UInt32(1)...3 { _ = publications.track(UInt64(100 + version), in: version) }
        let before = publications.takeCompleted(oldest: 0)
        let completed = [publications.takeCompleted(oldest: 2), publications.takeCompleted(oldest: 2)]
        let after = publications.takeCompleted(oldest: 2)
        #expect(before == nil && completed == [101, 102] && after == nil && publications.count == 1)
    }

    @Test func newestPublicationOvertakesTheOneBefore() {
        var publications = TrackedPublications(capacity: 2)
        let overtaken = (UInt32(1)...4).map { publications.track(UInt64($0), in: $0) }
        #expect(overtaken == [nil, nil, 2, 3] && publications.violation() == nil)
        let completed = [publications.takeCompleted(oldest: 4), publications.takeCompleted(oldest: 4)]
        #expect(completed == [1, 4])
    }

    @Test func anEarlierVersionBehindALaterOneIsAViolation() {
        var publications = TrackedPublications(capacity: 8)
        for version: UInt32 in [2, 5, 5] { _ = publications.track(UInt64(version), in: version) }
        #expect(publications.violation() == nil)
        _ = publications.track(9, in: 4)
        #expect(publications.violation() != nil)
    }
}
