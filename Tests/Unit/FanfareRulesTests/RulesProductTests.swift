import FanfareRules
import Testing

/// A program that embeds Fanfare imports `FanfareRules` alone, and not the modules behind it.
@Suite struct RulesProductTests {
    private static let parcel = TopicKind("parcel")

    private func read(_ toml: String, name: String = "parcel.toml") throws -> Rules {
        try Rules(toml: Array(toml.utf8), name: name)
    }

    @Test func bytesOfARulesFileGiveRulesBesideTheBuiltInOnes() throws {
        let rules = try read("[parcel]\nminimumInterval = \"30 s\"\n")
        #expect(rules[Self.parcel].pace.minimumInterval == .seconds(30))
        #expect(rules.kinds[.football] != nil && rules.lineups == LineupRules())
    }

    @Test func anErrorHasEveryFaultWithLineColumnAndText() {
        let error = #expect(throws: TOMLError.self) {
            try read("[parcel]\nprioritee = 5\nrelevance = -1\n", name: "of today")
        }
        #expect(error?.name == "of today" && error?.isUnreadable == false)
        #expect(error?.faults.map(\.line) == [2, 3] && error?.faults.map(\.column) == [1, 13])
        #expect(error?.faults.first?.text.hasPrefix("prioritee: unknown key") == true)
        #expect(error?.faults.last?.text.hasPrefix("relevance is -1; expected") == true)
        #expect(error?.description.hasPrefix("of today:2:1: prioritee: unknown key") == true)
    }

    @Test func aFileThatCannotBeReadHasNoFaultsAndSaysWhy() {
        let error = #expect(throws: TOMLError.self) { try Rules(file: "/nowhere/rules.toml") }
        #expect(error?.isUnreadable == true && error?.faults.isEmpty == true)
        #expect(error?.description == "/nowhere/rules.toml: cannot be read: No such file or directory")
    }

    @Test func aTaskIsToldThatAFileCannotBeRead() async {
        let error = await #expect(throws: TOMLError.self) { try await Rules.read(file: "/nowhere/rules.toml") }
        #expect(error?.isUnreadable == true)
        #expect(error?.description == "/nowhere/rules.toml: cannot be read: No such file or directory")
    }

    @Test func errorsAreEqualIfNamesAndFaultsAre() {
        let errors = ["today", "today", "yesterday"].map { name in
            #expect(throws: TOMLError.self) { try read("[parcel]\nprioritee = 5\n", name: name) }
        }
        #expect(errors[0] == errors[1])
        #expect(errors[1] != errors[2])
    }

    @Test func bytesThatAreNoRulesAreAFault() {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        let large = [UInt8](repeating: UInt8(ascii: "\n"), count: (1 << 20) + 1)
        for bytes in [[0xFF, 0x00, 0xFE], deep, large] {
            let error = #expect(throws: TOMLError.self) { try Rules(toml: bytes, name: "bytes") }
            #expect(error?.faults.count == 1)
        }
    }

    @Test func theTextOfRulesReadsBackAsTheSameText() throws {
        let rules = try read("[parcel]\nminimumInterval = \"30 s\"\n[lineups]\ndwell = \"5 s\"\n")
        let again = try read(rules.toml)
        #expect(again.toml == rules.toml)
        #expect(rules.toml.contains(rules[Self.parcel].toml(kind: Self.parcel)))
        #expect(rules.toml.hasSuffix(rules.lineups.toml) && rules.lineups.toml.contains("dwell = \"5 s\""))
    }
}
