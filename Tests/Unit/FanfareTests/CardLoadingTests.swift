import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues
import Testing

@testable import Fanfare

/// Work after the loading of a store's cards, and the starts of the earlier process that go on.
@Suite struct CardLoadingTests {
    private static let now = FeedTime(seconds: 1_790_000_000)

    /// A core with one shard, and the commands that it sends.
    private final class Stage {
        let core: EngineCore
        private let recorder: CoreRecorder
        private var commands: RingConsumer<ShardCommand>

        init(apps: [AppID] = [], room: Int = ShardRings.commandsMax) {
            let rings = ShardRings(commandsMax: room)
            core = EngineCore(shards: [ShardLink(rings) {}], perApp: 1, apps: apps, isLive: true)
            recorder = CoreRecorder(core)
            commands = rings.commands.takeConsumer()
            apply("match")
        }

        func apply(_ topic: String, _ lifecycle: FeedEvent.Lifecycle? = .start) {
            core.apply(
                FeedEvent(
                    topic: TopicID(topic), topicKind: .generic, at: now, id: "\(topic) \(lifecycle == .end)",
                    kind: "patch",
                    lifecycle: lifecycle, change: .patch(["number": .int(1)])), now: now)
        }

        /// Removes and returns the ids of the starts in the ring; of preferences, the number.
        func takeSent() -> (started: [String], preferences: Int) {
            var (started, preferences) = ([String](), 0)
            while let command = commands.pop() {
                if case .start(let request, _) = command { started.append(request.activity) }
                if case .setPreferences = command { preferences += 1 }
            }
            return (started, preferences)
        }
    }

    private static func card(_ id: String, _ topic: String = "match", number: UInt32 = 1) -> Card {
        var card = Card(
            subscriber: id, activity: id, token: [1], audience: .topic(TopicID(topic)), startedAt: now)
        card.phase = .starting
        card.joinedAt = now
        card.request = StartRequest(
            activity: id, token: [1], attributesType: "Match", attributes: [:], activityKey: "activity",
            alert: AlertText(title: "Kick-off", body: "The match begins"), number: number)
        return card
    }

    private static func mark(_ card: Card) -> StartMark {
        StartMark(ActivityMark(card.id, token: card.token), number: card.request?.number ?? 0)
    }

    /// The process before this one.
    ///
    /// - Parameter claimed: cards whose starts claims name; `nil` if the claims are lost.
    private static func earlier(claimed: [Card]?, app: AppID? = nil) throws -> EarlierProcess {
        try EarlierProcess(MemoryLog()) {
            guard let claimed else { return }
            $0.insert(StoredClaims([], starts: claimed.map(mark), app: app, now: now))
            $0.start = now
        }
    }

    private static func name(_ failure: StartFailure) -> String {
        switch failure {
        case .uncertain: "uncertain"
        case .over: "over"
        case .waitedTooLong: "too old"
        default: "\(failure)"
        }
    }

    /// Carries out the steps of a loading until nothing is to be done.
    private static func run(_ loading: CardLoading, _ stage: Stage) -> (steps: [String], givenUp: [String]) {
        var (steps, givenUp) = ([String](), [String]())
        while true {
            switch loading.next(in: stage.core) {
            case .none: return (steps, givenUp)
            case .loaded(let lines, let voids): steps.append("loaded \(lines)\(voids ? " voids" : "")")
            case .resumed(let unneeded): if !unneeded.isEmpty { steps.append("unneeded \(unneeded.count)") }
            case .settled(let uncertain, let unnamed, let line):
                let marks = unnamed.reduce(0) { $0 + $1.starts.count }
                steps.append("settled \(uncertain.count) \(marks)\(line == nil ? "" : " told")")
            case .giveUp(let cards):
                steps.append("give up")
                givenUp += cards.map { "\($0.card.activity ?? "") \(name($0.failure))" }
            case .end(let voids): steps.append("end\(voids ? " voids" : "")")
            }
        }
    }

    @Test func withoutStartsCallsGoOnAtOnce() throws {
        let stage = Stage()
        let loading = CardLoading(after: try Self.earlier(claimed: []))
        #expect(Self.run(loading, stage).steps == [], "cards are on their way")
        #expect(loading.notesCompletions && !loading.isOver)
        loading.noteNamed()
        #expect(Self.run(loading, stage).steps == [], "nothing is to be named yet")
        loading.noteLoaded(LoadedCards(lines: ["a line"]))
        #expect(Self.run(loading, stage).steps == ["loaded [\"a line\"]", "settled 0 0", "end"])
        #expect(loading.isOver && loading.notesCompletions)
        loading.noteLoaded(LoadedCards(lines: ["once more"]))
        #expect(Self.run(loading, stage).steps == [])
    }

    /// A later process is to know as little of these starts until claims name them.
    @Test func unknownStartsAreGivenUpOnceClaimsNameThem() throws {
        let stage = Stage()
        let loading = CardLoading(after: try Self.earlier(claimed: nil))
        loading.noteLoaded(LoadedCards(starting: [Self.card("a"), Self.card("b")]))
        #expect(Self.run(loading, stage).steps == ["loaded []", "settled 2 2 told"])
        #expect(loading.areStartsUnknown && !loading.notesCompletions)
        loading.noteNamed()
        let end = Self.run(loading, stage)
        #expect(end.steps == ["give up", "end voids"] && end.givenUp.sorted() == ["a uncertain", "b uncertain"])
        #expect(loading.notesCompletions && !loading.areStartsUnknown && stage.takeSent().started == [])
    }

    @Test func cardsThatCannotBeReadCountAsServedNeverMore() throws {
        for claimed in [[], nil] as [[Card]?] {
            let stage = Stage()
            let loading = CardLoading(after: try Self.earlier(claimed: claimed))
            loading.noteLoaded(LoadedCards(lacksSlices: true))
            #expect(!loading.notesCompletions)
            let steps = Self.run(loading, stage).steps
            // Of a store that knows no starts nothing is written: the next process is to know as little of those that are left out.
            #expect(steps == [claimed == nil ? "loaded []" : "loaded [] voids", "settled 0 0", "end"])
            #expect(loading.areStartsUnknown == (claimed == nil))
            #expect(!loading.notesCompletions && loading.isOver)
        }
    }

    // MARK: Starts

    @Test func aStartThatNoClaimNamesGoesOn() throws {
        let stage = Stage()
        var (left, waiting) = (Self.card("left"), Self.card("waiting"))
        waiting.preferences = Preferences()
        // A second start of the card.
        let again = Self.card("left", number: 2)
        left.preferences = Preferences()
        let loading = CardLoading(after: try Self.earlier(claimed: [left]))
        loading.noteLoaded(LoadedCards(starting: [left, waiting, again]))
        let end = Self.run(loading, stage)
        #expect(end.givenUp == ["left uncertain"])
        let sent = stage.takeSent()
        #expect(sent.started == ["waiting", "left"] && sent.preferences == 1)
    }

    @Test func aStartThatNobodyNeedsIsGivenUp() throws {
        let stage = Stage()
        stage.apply("over")
        stage.apply("over", .end)
        var old = Self.card("old")
        old.joinedAt = Self.now + (.zero - StartRequest.patience)
        var young = Self.card("young")
        young.joinedAt = Self.now + (.milliseconds(1) - StartRequest.patience)
        var former = Self.card("former")
        former.request = nil
        let loading = CardLoading(after: try Self.earlier(claimed: []))
        loading.noteLoaded(LoadedCards(starting: [Self.card("late", "over"), old, young, former]))
        let end = Self.run(loading, stage)
        // Their rows go before calls go on, which may start the same cards.
        #expect(
            end.steps.firstIndex(of: "unneeded 2").map { $0 < end.steps.firstIndex(of: "settled 1 0 told")! } == true)
        #expect(end.givenUp.sorted() == ["former uncertain", "late over", "old too old"])
        #expect(stage.takeSent().started == ["young"])
    }

    @Test func startsOfAnAppThatIsNotPushedToStay() throws {
        let (one, two) = (AppID(bundleID: "one"), AppID(bundleID: "two"))
        let stage = Stage(apps: [one])
        var cards = ["one", "two", "unnamed"].map { Self.card($0) }
        (cards[0].app, cards[1].app) = (one, two)
        let loading = CardLoading(after: try Self.earlier(claimed: []))
        loading.noteLoaded(LoadedCards(starting: cards))
        #expect(Self.run(loading, stage).givenUp == [])
        #expect(stage.takeSent().started == ["one", "unnamed"])
    }

    /// The core's thread has other work, and a shard has room for some alone.
    @Test func aMillionStartsGoOnInParts() throws {
        let stage = Stage(room: 64)
        let cards = (0..<1500).map { Self.card("\($0)") }
        let loading = CardLoading(after: try Self.earlier(claimed: []))
        loading.noteLoaded(LoadedCards(starting: cards))
        var (started, steps) = ([String](), 0)
        while !loading.isOver {
            steps += 1
            _ = loading.next(in: stage.core)
            let sent = stage.takeSent().started
            #expect(sent.count <= 64)
            started += sent
            stage.core.takeFeedback()
            stage.core.turnIsOver()
        }
        #expect(started == cards.compactMap(\.activity) && steps > 1500 / 65)
    }
}
