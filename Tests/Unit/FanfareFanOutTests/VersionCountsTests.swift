import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct VersionCountsTests {
    /// A member has a version, and a push of another may be in flight to it.
    private struct Member {
        var version: UInt32
        var inFlight: UInt32?
    }

    /// An audience of whose members each is known by itself.
    private struct Model {
        var members: [Member] = []
        var newest: UInt32 = 0
        /// Versions 0 to the newest show only three different contents.
        static func displayHash(_ version: UInt32) -> UInt64 { UInt64(version % 3) }

        var counts: [UInt32: Int] { members.reduce(into: [:]) { $0[$1.version, default: 0] += 1 } }
        var flights: [UInt32: Int] { members.compactMap(\.inFlight).reduce(into: [:]) { $0[$1, default: 0] += 1 } }
        var oldest: UInt32 { members.map(\.version).min() ?? newest }

        func hasReached(_ version: UInt32) -> Bool {
            members.contains { $0.version >= version || $0.inFlight ?? 0 >= version } && version <= newest
        }
    }

    /// Versions come while pushes fly, are accepted and are lost; members join, also with what they have been shown, and leave.
    @Test(arguments: 0..<20 as Range<UInt64>) func theCountsSayOfEachVersionWhoHasItAndWhatCarriesIt(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (versions, model) = (VersionCounts(), Model())
        for step in 0..<3000 {
            let place = model.members.indices.randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                model.newest += 1
                versions.add(model.newest, displayHash: Model.displayHash(model.newest))
            case 1 where model.members.count < 8:
                versions.join()
                model.members.append(Member(version: model.newest))
            case 2 where model.members.count < 8:
                let version = UInt32.random(in: 0...model.newest, using: &random)
                versions.join(having: version, displayHash: Model.displayHash(version))
                model.members.append(Member(version: version))
            case 3:
                guard let place, model.members[place].inFlight == nil else { continue }
                versions.remove(model.members.remove(at: place).version)
            case 4..<6:
                // Also to a member that has it: its card is renewed, or its state is sent again.
                guard let place, model.members[place].inFlight == nil else { continue }
                versions.noteSent(1)
                model.members[place].inFlight = model.newest
            default:
                guard let place, let version = model.members[place].inFlight else { continue }
                if random.chance(0.7) {
                    versions.advance(1, from: model.members[place].version, to: version)
                    model.members[place].version = version
                }
                versions.conclude(1, version)
                model.members[place].inFlight = nil
            }
            if let difference = Self.difference(versions, model) {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }

    private static func difference(_ versions: VersionCounts, _ model: Model) -> String? {
        if let violation = versions.violation() { return violation }
        guard versions.matches(members: model.counts, inFlight: model.flights) else { return "counts" }
        guard versions.oldest == model.oldest else { return "oldest" }
        guard versions.newestDisplayHash == Model.displayHash(model.newest) else { return "display hash" }
        for version in Set(model.members.map(\.version))
        where versions.showsTheNewest(version) != (Model.displayHash(version) == Model.displayHash(model.newest)) {
            return "what \(version) shows"
        }
        for version in 0...model.newest where versions.hasReached(version) != model.hasReached(version) {
            return "whether \(version) has reached anybody"
        }
        let isResting = model.members.allSatisfy { $0.version == model.newest && $0.inFlight == nil }
        return versions.isResting == isResting ? nil : "rest"
    }

    @Test func countsAtRestHaveOneMemberWithTheNewestVersion() {
        var versions = VersionCounts()
        versions.add(1, displayHash: 1)
        versions.join()
        versions.noteSent(1)
        versions.rest(9, displayHash: 5)
        #expect(versions.isResting && versions.oldest == 9 && versions.newestDisplayHash == 5)
        #expect(versions.matches(members: [9: 1], inFlight: [:]) && !versions.matches(members: [9: 2], inFlight: [:]))
    }

    @Test func aMemberThatNeverCameAndAVersionThatGoesBackAreViolations() {
        var left = VersionCounts()
        left.remove(0)
        #expect(left.violation() != nil)
        var older = VersionCounts()
        older.join()
        older.add(5, displayHash: 1)
        #expect(older.violation() == nil)
        older.join()
        older.add(4, displayHash: 1)
        #expect(older.violation() != nil)
    }
}
