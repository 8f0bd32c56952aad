import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct ReplacedPublicationsTests {
    private final class Watched {
        weak var publication: Publication?
    }

    /// Appends so many publications.
    ///
    /// - Returns: the ones that are alive, by the order in which they were appended.
    private static func living(of count: Int) -> [Int] {
        var replaced = ReplacedPublications()
        let watched = (0..<count).map { _ in Watched() }
        for (index, watched) in watched.enumerated() {
            let publication = Publication.test(UInt64(index + 1))
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
