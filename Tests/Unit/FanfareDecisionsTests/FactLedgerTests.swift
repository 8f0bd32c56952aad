import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct FactLedgerTests {
    /// Writes down what it folds. It knows two kinds of facts.
    private struct Journal: Reducer {
        var lines: [String] = []
        var kinds: Set<String> = ["goal", "card"]

        func understands(factKind: String) -> Bool { kinds.contains(factKind) }
        func fault(in fact: Fact) -> String? { fact.id.hasPrefix("odd") ? "odd" : nil }
        mutating func fold(_ entry: LedgerEntry) { lines.append(FactLedgerTests.line(entry)) }
        var memory: [UInt8]? { Array(lines.joined(separator: "\n").utf8) }
        mutating func restore(_ memory: [UInt8]) -> Bool {
            lines = String(decoding: memory, as: UTF8.self).split(separator: "\n").map(String.init)
            return true
        }
        var state: JSONObject { JSONObject() }
        var isPresentable: Bool { false }
        var ending: String? { nil }
        func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
    }

    private static func line(_ entry: LedgerEntry) -> String {
        switch entry {
        case .fact(let fact): "\(fact.at.milliseconds) \(fact.id)"
        case .withdrawal(let fact, let at): "\(at.milliseconds) no \(fact.id)"
        }
    }

    private static func fact(_ id: String, at milliseconds: Int64, _ kind: String = "goal") -> Fact {
        Fact(id: id, kind: kind, at: FeedTime(milliseconds: milliseconds), values: [:])
    }

    private static func blank(facts: Int = 20, awaited: Int = 5) -> BlankLedger {
        var limits = Rules.Limits()
        (limits.factsMax, limits.earlyRetractionsMax) = (facts, awaited)
        return BlankLedger(Journal(), limits: limits)
    }

    private static func lines(of ledger: FactLedger) -> [String] { (ledger.reducer as? Journal)?.lines ?? [] }

    /// All entries ever, in a list that is sorted anew each time.
    private struct Model {
        let factsMax: Int
        var settled: [LedgerEntry] = []
        var entries: [LedgerEntry] = []
        var awaited: [String: FeedTime] = [:]

        var settledUntil: FeedTime? { settled.map(\.at).max() }
        var lines: [String] { (settled + entries).map(FactLedgerTests.line) }

        private static func place(_ entry: LedgerEntry) -> (FeedTime, Int, String) {
            switch entry {
            case .fact(let fact): (fact.at, 0, fact.id)
            case .withdrawal(let fact, let at): (at, 1, fact.id)
            }
        }

        mutating func insert(_ entry: LedgerEntry) {
            entries.append(entry)
            entries.sort { Model.place($0) < Model.place($1) }
        }

        mutating func settle() {
            guard entries.count > factsMax else { return }
            settled += entries.prefix(entries.count / 2)
            entries.removeFirst(entries.count / 2)
            awaited = awaited.filter { $0.value > settledUntil ?? $0.value }
        }

        func status(of id: String) -> FactLedger.Status {
            if awaited[id] != nil { return .awaited }
            for entry in entries {
                switch entry {
                case .fact(let fact): if fact.id == id { return .live }
                case .withdrawal(let fact, _): if fact.id == id { return .withdrawn }
                }
            }
            return .unknown
        }
    }

    /// Facts and their withdrawals come in any order, late ones too, until they are settled; the ledger is written and read now and then.
    @Test(arguments: 0..<20 as Range<UInt64>) func theFoldIsThatOfAllEntriesInTheOrderInWhichTheyHappened(seed: UInt64)
    {
        var random = SplitMix64(seed: seed)
        let factsMax = [2, 5, 20][Int(seed % 3)]
        let blank = Self.blank(facts: factsMax)
        var (ledger, model) = (FactLedger(blank), Model(factsMax: factsMax))
        for step in 0..<1000 {
            let id = "\(random.number(below: 60))"
            let time = FeedTime(milliseconds: Int64(step / 4 + random.number(below: 40)))
            let isSettled = model.settledUntil.map { time <= $0 } ?? false
            switch (model.status(of: id), random.chance(60)) {
            case (.unknown, true), (.awaited, true):
                guard !isSettled else { continue }
                let fact = Self.fact(id, at: time.milliseconds)
                let withdrawnAt = model.awaited.removeValue(forKey: id)
                let entry = withdrawnAt.map { LedgerEntry.withdrawal(of: fact, at: max($0, time)) } ?? .fact(fact)
                model.insert(entry)
                model.settle()
                let added = ledger.add(fact)
                #expect(added == entry, "seed \(seed), step \(step)")
            case (.live, false), (.withdrawn, false):
                var expected: LedgerEntry?
                for (place, entry) in model.entries.enumerated() {
                    guard case .fact(let fact) = entry, fact.id == id else { continue }
                    expected = .withdrawal(of: fact, at: max(time, fact.at))
                    model.entries.remove(at: place)
                    break
                }
                if let expected { model.insert(expected) }
                let withdrawal = ledger.withdraw(id, at: time)
                #expect(withdrawal == expected, "seed \(seed), step \(step)")
            case (.unknown, false):
                guard !isSettled else { continue }
                let hasRoom = model.awaited.count < 5
                if hasRoom { model.awaited[id] = time }
                let isAwaited = ledger.await(id, withdrawnAt: time)
                #expect(isAwaited == hasRoom, "seed \(seed), step \(step)")
            default: continue
            }
            if step % 50 == 0, let read = Self.readAgain(ledger, blank) { ledger = read }
            let statuses = (0..<60).map { ledger.status(of: "\($0)") == model.status(of: "\($0)") }
            guard ledger.violation() == nil, Self.lines(of: ledger) == model.lines, !statuses.contains(false),
                ledger.settledUntil == model.settledUntil, ledger.isFull == (model.entries.count >= factsMax)
            else {
                Issue.record("seed \(seed), step \(step): \(Self.lines(of: ledger)), not \(model.lines)")
                return
            }
        }
        #expect(model.settledUntil != nil, "seed \(seed) settles nothing")
    }

    /// The ledger that is read from what this one writes; `nil`, and an issue, if it cannot be.
    private static func readAgain(_ ledger: FactLedger, _ blank: BlankLedger) -> FactLedger? {
        var writer = SerialWriter()
        let isWritten = ledger.write(to: &writer, blank)
        var reader = SerialReader(writer.bytes[...])
        let read = try? FactLedger(reading: &reader, blank)
        #expect(isWritten && read != nil && reader.isAtEnd)
        return read
    }

    @Test func aFactThatIsAddedTwiceContradictsTheLedger() {
        var ledger = FactLedger(Self.blank())
        _ = ledger.add(Self.fact("a", at: 1))
        #expect(ledger.violation() == nil)
        _ = ledger.add(Self.fact("a", at: 2))
        #expect(ledger.violation() != nil)
    }

    @Test func aLedgerWithoutFactsIsItsBlankAndMayBeginWithAnother() {
        var ledger = FactLedger(Self.blank())
        let withdrawal = ledger.withdraw("1", at: FeedTime(milliseconds: 5))
        #expect(ledger.status(of: "1") == .unknown && ledger.settledUntil == nil && withdrawal == nil)
        let other = Self.blank(facts: 2)
        ledger.adopt(other)
        _ = ledger.add(Self.fact("1", at: 1))
        _ = ledger.add(Self.fact("2", at: 2))
        #expect(ledger.isFull)
        ledger.adopt(Self.blank())
        #expect(ledger.isFull, "a ledger with facts keeps its limits")
    }

    /// Their kind was unknown when they came.
    @Test func factsThatTheReducerOfTheKindCannotFoldAreDroppedWithTheirStandings() {
        var limits = Rules.Limits()
        limits.factsMax = 20
        var ledger = FactLedger(BlankLedger(KindUnknown(), limits: limits))
        for fact in [
            Self.fact("goal", at: 3), Self.fact("pass", at: 1, "pass"), Self.fact("odd", at: 2),
            Self.fact("card", at: 1, "card"),
        ] { _ = ledger.add(fact) }
        _ = ledger.await("later", withdrawnAt: FeedTime(milliseconds: 9))
        _ = ledger.withdraw("card", at: FeedTime(milliseconds: 4))
        ledger.refold(with: Self.blank())
        #expect(Self.lines(of: ledger) == ["3 goal", "4 no card"])
        let statuses = ["goal", "card", "pass", "odd", "later"].map { ledger.status(of: $0) }
        #expect(statuses == [.live, .withdrawn, .unknown, .unknown, .awaited])
    }

    /// `é` in one character and in two are two ids.
    @Test func idsAreComparedByTheirBytes() {
        var ledger = FactLedger(Self.blank())
        _ = ledger.add(Self.fact("\u{e9}", at: 1))
        #expect(ledger.status(of: "\u{e9}") == .live && ledger.status(of: "e\u{301}") == .unknown)
        _ = ledger.add(Self.fact("e\u{301}", at: 1))
        #expect(Self.lines(of: ledger).map { $0.utf8.count } == [5, 4], "in the order of their bytes")
        let withdrawal = ledger.withdraw("e\u{301}", at: FeedTime(milliseconds: 1))
        #expect(withdrawal != nil && ledger.status(of: "\u{e9}") == .live)
    }

    @Test func bytesThatWouldReadFactsOutOfOrderAreRefused() {
        var ledger = FactLedger(Self.blank())
        _ = ledger.add(Self.fact("a", at: 1))
        _ = ledger.add(Self.fact("b", at: 1))
        var writer = SerialWriter()
        _ = ledger.write(to: &writer, Self.blank())
        let bytes = writer.bytes.map { $0 == UInt8(ascii: "a") ? UInt8(ascii: "b") : $0 }
        var reader = SerialReader(bytes[...])
        #expect(throws: SerialError.malformed("order of facts")) { try FactLedger(reading: &reader, Self.blank()) }
    }
}
