import FanfareLog
import FanfareModel
import FanfareTestSupport
import PowerLossParts
import Testing

/// The parts of a store that lose power: what they have written is as they say, and their judges see a row that is another one.
@Suite struct PartTests {
    private static let steps = 40

    /// A change of a card that no step has made.
    enum Difference: CaseIterable {
        case order, favourite, preferences, request, phase

        /// Returns the card with the change; `nil` for a card that has nothing of the kind.
        func made(in card: Card) -> Card? {
            var other = card
            switch self {
            case .order:
                guard case .lineup(let topics, let favourite) = card.audience, topics.count > 1 else { return nil }
                other.audience = .lineup(topics.reversed(), favourite: favourite)
            case .favourite:
                guard case .lineup(let topics, let favourite) = card.audience, favourite != nil else { return nil }
                other.audience = .lineup(topics, favourite: nil)
            case .preferences:
                guard card.preferences != nil else { return nil }
                other.preferences = nil
            case .request:
                guard let request = card.request else { return nil }
                other.request = request.numbered(request.number &+ 1)
            case .phase:
                guard card.phase == .leaving else { return nil }
                other.phase = .shown
            }
            return other
        }
    }

    /// Steps a part of a new store, changes what is on the disk, and returns the judgement.
    private static func judgement<Written: Part>(
        of type: Written.Type, after change: (_ store: String) throws -> Void = { _ in }
    ) throws -> String? {
        let folder = try TemporaryFolder.made()
        defer { withExtendedLifetime(folder) {} }
        let part = try Written(store: folder.path)
        for _ in 0..<steps { try part.step() }
        part.close()
        try change(folder.path)
        return try part.judge(store: folder.path, done: steps, begun: steps)
    }

    @Test func whatEachPartHasWrittenIsRight() throws {
        #expect(try Self.judgement(of: LogPart.self) == nil)
        #expect(try Self.judgement(of: PeoplePart.self) == nil)
        #expect(try Self.judgement(of: ClaimPart.self) == nil)
    }

    @Test(arguments: Difference.allCases) func aCardThatDiffersIsSeen(_ difference: Difference) throws {
        let fault = try Self.judgement(of: PeoplePart.self) { store in
            let people = try LMDBPeopleStore(store: store)
            var changes: [PeopleChange] = []
            try people.read { (key, found) in
                if case .success(let card) = found, let other = difference.made(in: card) {
                    changes = [.replace(key, other)]
                }
                return changes.isEmpty
            }
            #expect(changes.count == 1, "no card has what is to differ")
            try people.apply(changes)
        }
        #expect(fault?.hasSuffix("is another one") == true, "\(fault ?? "nothing")")
    }

    @Test func aClaimOfAStartThatNoStepHasMadeIsSeen() throws {
        let fault = try Self.judgement(of: ClaimPart.self) { store in
            let claims = try ClaimFolder(store: store)
            let mark = StartMark(ActivityMark(rawValue: 1), number: 1)
            try claims.append([StoredClaims([], starts: [mark], app: nil, now: FeedTime(milliseconds: 1))])
            claims.close()
        }
        #expect(fault?.contains("claims of starts") == true, "\(fault ?? "nothing")")
    }

    @Test(arguments: CompletionScope.allCases) func aCompletionThatIsMissingIsSeen(_ scope: CompletionScope) throws {
        let fault = try Self.judgement(of: ClaimPart.self) { store in
            let claims = try ClaimFolder(store: store)
            var keys: [CompletionKey] = []
            _ = try claims.readCompletions { key, _ in if key.scope == scope { keys.append(key) } }
            var changes = CompletionChanges()
            for key in keys.prefix(1) { changes.forget(key) }
            #expect(!changes.isEmpty, "there are no completions of \(scope)")
            try claims.append([], changes)
            claims.close()
        }
        #expect(fault?.hasPrefix("1 completions are missing") == true, "\(fault ?? "nothing")")
    }
}
