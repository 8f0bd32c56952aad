import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct ReplacedPublicationsTests {
    private final class Watched {
        weak var publication: Publication?
    }

    private static func publication(_ serial: UInt64) -> Publication {
        Publication(
            serial: serial, topicID: TopicID("order/1"), topicKind: .delivery, version: UInt32(serial), event: .update,
            state: EncodedState(JSONObject()), priority: .immediate, alert: nil, staleAfter: nil, dismissal: nil)
    }

    /// Appends so many publications.
    ///
    /// - Returns: those that are alive, by the order in which they were appended.
    private static func living(of count: Int) -> [Int] {
        var replaced = ReplacedPublications()
        let watched = (0..<count).map { _ in Watched() }
        for (index, watched) in watched.enumerated() {
            let publication = publication(UInt64(index + 1))
            watched.publication = publication
            replaced.append(publication)
        }
        return withExtendedLifetime(replaced) { watched.indices.filter { watched[$0].publication != nil } }
    }

    @Test func replacedPublicationsAreKept() {
        #expect(Self.living(of: 3) == [0, 1, 2])
        #expect(Self.living(of: ReplacedPublications.countMax) == Array(0..<ReplacedPublications.countMax))
    }

    @Test func theOldestReplacedPublicationsAreDroppedFirst() {
        let max = ReplacedPublications.countMax
        #expect(Self.living(of: max + 1) == Array(1...max))
        #expect(Self.living(of: 2 * max + 7) == Array(max + 7..<2 * max + 7))
    }
}
