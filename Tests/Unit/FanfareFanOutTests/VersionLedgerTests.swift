import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct VersionLedgerTests {
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
    @Test(arguments: 0..<20 as Range<UInt64>) func theLedgerSaysOfEachVersionWhoHasItAndWhatCarriesIt(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (ledger, model) = (VersionLedger(), Model())
        for step in 0..<3000 {
            let place = model.members.indices.randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                model.newest += 1
                ledger.add(model.newest, displayHash: Model.displayHash(model.newest))
            case 1 where model.members.count < 8:
                ledger.join()
                model.members.append(Member(version: model.newest))
            case 2 where model.members.count < 8:
                let version = UInt32.random(in: 0...model.newest, using: &random)
                ledger.join(having: version, displayHash: Model.displayHash(version))
                model.members.append(Member(version: version))
            case 3:
                guard let place, model.members[place].inFlight == nil else { continue }
                ledger.remove(model.members.remove(at: place).version)
            case 4..<6:
                // Also to a member that has it: its card is renewed, or its state is sent again.
                guard let place, model.members[place].inFlight == nil else { continue }
                ledger.noteSent(1)
                model.members[place].inFlight = model.newest
            default:
                guard let place, let version = model.members[place].inFlight else { continue }
                if random.chance(0.7) {
                    ledger.advance(1, from: model.members[place].version, to: version)
                    model.members[place].version = version
                }
                ledger.conclude(1, version)
                model.members[place].inFlight = nil
            }
            if let difference = Self.difference(ledger, model) {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }

    private static func difference(_ ledger: VersionLedger, _ model: Model) -> String? {
        guard ledger.matches(members: model.counts, inFlight: model.flights) else { return "counts" }
        guard ledger.oldest == model.oldest else { return "oldest" }
        guard ledger.newestDisplayHash == Model.displayHash(model.newest) else { return "display hash" }
        for version in Set(model.members.map(\.version))
        where ledger.showsTheNewest(version) != (Model.displayHash(version) == Model.displayHash(model.newest)) {
            return "what \(version) shows"
        }
        for version in 0...model.newest where ledger.hasReached(version) != model.hasReached(version) {
            return "whether \(version) has reached anybody"
        }
        let isResting = model.members.allSatisfy { $0.version == model.newest && $0.inFlight == nil }
        return ledger.isResting == isResting ? nil : "rest"
    }

    @Test func aLedgerAtRestHasOneMemberWithTheNewestVersion() {
        var ledger = VersionLedger()
        ledger.add(1, displayHash: 1)
        ledger.join()
        ledger.noteSent(1)
        ledger.rest(9, displayHash: 5)
        #expect(ledger.isResting && ledger.oldest == 9 && ledger.newestDisplayHash == 5)
        #expect(ledger.matches(members: [9: 1], inFlight: [:]) && !ledger.matches(members: [9: 2], inFlight: [:]))
    }
}
