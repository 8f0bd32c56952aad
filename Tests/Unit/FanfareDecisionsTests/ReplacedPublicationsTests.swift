import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct ReplacedPublicationsTests {
    private final class Watched {
        weak var publication: Publication?
    }

    /// - Parameter text: characters of the state's text.
    private static func publication(_ serial: UInt64, text: Int = 0) -> Publication {
        let state: JSONObject = text == 0 ? JSONObject() : ["text": .string(String(repeating: "x", count: text))]
        return Publication(
            serial: serial, topicID: TopicID("order/1"), topicKind: .delivery, version: UInt32(serial), event: .update,
            state: EncodedState(state), priority: .immediate, alert: nil, staleAfter: nil, dismissal: nil)
    }

    /// Appends so many publications.
    ///
    /// - Parameter text: characters of the text of each state.
    /// - Returns: those that are alive, by the order in which they were appended.
    private static func living(of count: Int, text: Int = 0) -> [Int] {
        var replaced = ReplacedPublications()
        let watched = (0..<count).map { _ in Watched() }
        for (index, watched) in watched.enumerated() {
            let publication = publication(UInt64(index + 1), text: text)
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

    /// A quarter of a megabyte is no state that a topic has; it makes the test short.
    @Test func statesOfFourMegabytesAreKeptTogether() {
        let text = 1 << 18 - 11
        #expect(Self.publication(1, text: text).state.size == .kibibytes(256))
        #expect(Self.living(of: 16, text: text) == Array(0..<16))
        #expect(Self.living(of: 17, text: text) == Array(1..<17))
        #expect(Self.living(of: 40, text: text) == Array(24..<40))
    }

    @Test func numberAndSizeStayRightWithStatesOfAnySize() {
        var replaced = ReplacedPublications()
        let max = ReplacedPublications.countMax
        // First the number is the limit, then the size, then the number again.
        for (count, text) in [(max + 9, 0), (30, 1 << 18 - 11), (1, 1 << 20), (2 * max, 0)] {
            for serial in 1...count { replaced.append(Self.publication(UInt64(serial), text: text)) }
            #expect(replaced.violation() == nil && replaced.size <= ReplacedPublications.sizeMax)
        }
        #expect(replaced.count == max && replaced.size == .bytes(2 * max))
    }
}
