import FanfareLog
import FanfareModel

/// Loading of a store's cards by an engine that serves already, and what follows once all are there: the starts of the process before this one go on
/// or are given up, claims name those that are given up, and people are told of these.
///
/// It decides what comes next and does nothing itself: the core's thread asks for a step in each turn, and carries it out.
final class CardLoading {
    /// What the core's thread is to do.
    enum Step {
        /// Nothing, until `noteLoaded` or `noteNamed` is called.
        case none
        /// All cards are loaded. The lines are for operators; completions of other cards than those that are left out say nothing any more, if so.
        case loaded(lines: [String], voidsCompletions: Bool)
        /// Some starts went on, and these are given up, because they are certain not to have left and nobody needs them any more. There may be more,
        /// for which the shards have no room yet.
        case resumed(unneeded: [Card])
        /// All starts are known: calls for cards go on. The claims are to become durable (`noteNamed`).
        case settled(uncertain: UncertainStarts, unnamed: [StoredClaims], line: String?)
        /// Starts that are given up, of which people are to be told.
        case giveUp([(card: Card, failure: StartFailure)])
        /// People have been told of all. Completions of a store that knew no starts are void, if so.
        case end(voidsCompletions: Bool)
    }

    private enum Stage {
        case loading
        case loaded(LoadedCards)
        case resuming(StartResumption)
        /// Claims are to name the starts that are given up.
        case naming(StartResumption)
        case givingUp(StartResumption)
        case over
    }

    private var stage = Stage.loading
    /// `nil` once all starts are known.
    private var earlier: EarlierProcess?
    private let knowsStarts: Bool
    private var lacksSlices = false

    init(after earlier: EarlierProcess) {
        self.earlier = earlier
        knowsStarts = earlier.knowsStarts
    }

    var isOver: Bool { if case .over = stage { true } else { false } }

    /// Is `true` until claims name all starts that may have left, and for good if cards are left out that cannot be read. What the store has of
    /// completions tells the next process so, and stays as it is.
    var areStartsUnknown: Bool { !knowsStarts && (lacksSlices || !isOver) }

    /// Is `false` while a completion might speak of starts that may have left, and for good if cards are left out that cannot be read.
    var notesCompletions: Bool { !areStartsUnknown && !lacksSlices }

    /// Notes that all shards have loaded all of their cards.
    func noteLoaded(_ cards: LoadedCards) {
        guard case .loading = stage else { return }
        stage = .loaded(cards)
        lacksSlices = cards.lacksSlices
    }

    /// Notes that the claims of `Step.settled` are durable.
    func noteNamed() {
        if case .naming(let starts) = stage { stage = .givingUp(starts) }
    }

    /// Decides the next step, and makes starts due that have not left, as many as the shards have room for.
    func next(in core: EngineCore) -> Step {
        switch stage {
        case .loading, .naming, .over: return .none
        case .loaded(let cards):
            guard let earlier else { return .none }
            stage = .resuming(StartResumption(cards.starting, after: earlier))
            return .loaded(lines: cards.lines, voidsCompletions: lacksSlices && !areStartsUnknown)
        case .resuming(let starts):
            let hasMore = starts.resume(in: core)
            let unneeded = starts.takeUnneeded()
            if hasMore || !unneeded.isEmpty { return .resumed(unneeded: unneeded) }
            earlier = nil
            let unnamed = starts.claims(at: core.now)
            stage = unnamed.isEmpty ? .givingUp(starts) : .naming(starts)
            return .settled(uncertain: starts.takeUncertain(), unnamed: unnamed, line: starts.report)
        case .givingUp(let starts):
            let givenUp = starts.takeGivenUp()
            guard givenUp.isEmpty else { return .giveUp(givenUp) }
            stage = .over
            return .end(voidsCompletions: !knowsStarts && !lacksSlices)
        }
    }
}

/// What the thread that read the store's cards has found beside those that the shards have.
struct LoadedCards {
    /// Cards that are being started, as far as the engine knows.
    var starting: [Card] = []
    /// Lines for operators about cards that are left out.
    var lines: [String] = []
    /// Is `true` if those of a slice could not be read.
    var lacksSlices = false
}
