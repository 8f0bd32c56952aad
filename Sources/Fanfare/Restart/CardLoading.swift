package import FanfareFanOut
package import FanfareLog
import FanfareModel

/// Loading of a store's cards by an engine that serves already, and the steps after it: starts of the earlier process go on or are given up, claims
/// name the given-up starts, and the engine reports them.
///
/// It only decides the next step: the core's thread asks for one in each turn, and carries it out.
package final class CardLoading {
    /// Work for the core's thread.
    package enum Step {
        /// Nothing, until `noteLoaded` or `noteNamed` is called.
        case none
        /// All cards are loaded. The lines are for operators. If `voidsCompletions`, completions are void, because some cards are left out.
        case loaded(lines: [String], voidsCompletions: Bool)
        /// Some starts went on. The unneeded ones are given up, because they have certainly not left and are of no use any more. More starts may wait
        /// for room in the shards.
        case resumed(unneeded: [Card])
        /// All starts are known: calls for cards go on. `uncertain` has the ids' bits of the cards that may have been started. The claims are to
        /// become durable (`noteNamed`).
        case settled(uncertain: [UInt64], unnamed: [StoredClaims], line: String?)
        /// Given-up starts that the engine is to report.
        case giveUp([(card: Card, failure: StartFailure)])
        /// The engine has reported all given-up starts. The completions are void if the store knew no starts.
        case end(voidsCompletions: Bool)
    }

    private enum Stage {
        case loading
        case loaded(LoadedCards)
        case resuming(StartResumption)
        /// Claims are to name the given-up starts.
        case naming(StartResumption)
        case givingUp(StartResumption)
        case over
    }

    private var stage = Stage.loading
    /// `nil` once all starts are known.
    private var earlier: EarlierProcess?
    private let knowsStarts: Bool
    private var lacksSlices = false

    package init(after earlier: EarlierProcess) {
        self.earlier = earlier
        knowsStarts = earlier.knowsStarts
    }

    package var isOver: Bool { if case .over = stage { true } else { false } }

    /// Is `true` until claims name all starts that may have left, and for good if unreadable cards are left out. The store's completions tell the
    /// next process of this, and stay as they are.
    package var areStartsUnknown: Bool { !knowsStarts && (lacksSlices || !isOver) }

    /// Is `false` while a completion might cover starts that may have left, and for good if unreadable cards are left out.
    package var notesCompletions: Bool { !areStartsUnknown && !lacksSlices }

    /// Notes that all shards have loaded all of their cards.
    package func noteLoaded(_ cards: LoadedCards) {
        guard case .loading = stage else { return }
        stage = .loaded(cards)
        lacksSlices = cards.lacksSlices
    }

    /// Notes that the claims of `Step.settled` are durable.
    package func noteNamed() {
        if case .naming(let starts) = stage { stage = .givingUp(starts) }
    }

    /// Decides the next step, and makes starts due that have not left, as many as the shards have room for.
    package func next(in core: EngineCore) -> Step {
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
