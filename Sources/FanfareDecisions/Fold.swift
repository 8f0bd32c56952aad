import FanfareModel

/// Effect of an event's change on the state.
enum Folded {
    /// Nothing to fold, with a reason if a change was to be expected.
    case nothing(String?)
    /// A patch that repeats known values.
    case confirmed
    /// A patch, folded after earlier doubted patches that now count.
    case patched(after: [PatchOrder.Doubted])
    case entered(LedgerEntry)
    /// A fact that was withdrawn before it arrived.
    case retracted(LedgerEntry)
    /// A change that was not folded.
    case refused(Outcome, String)
}

/// A topic's content state: the fold of its facts, overlaid with its patches, filtered by the rules of its kind.
///
/// `state` always follows from the other members. A patch never makes it larger than a push can carry: a patch that would is
/// undone. The fold depends neither on the clock, nor on published versions, nor on arrival times.
struct Fold: Sendable {
    let topic: TopicID
    private(set) var kind: TopicKind
    private(set) var kindRules: KindRules
    private(set) var ledger: FactLedger
    /// Merged patches.
    private var overlay = JSONObject()
    /// Keys of the facts' state that a patch removed.
    private var hidden: Set<String> = []
    private(set) var patchOrder = PatchOrder()
    /// Visible state: the facts' fold, overlaid with the patches, filtered by the rules.
    private(set) var state: JSONObject { didSet { isOver = kindRules.isOver(state) } }
    /// Is `true` when the rules' `endsWhen` holds for `state`. Stored, because every event reads it.
    private(set) var isOver = false
    /// Is `true` once an event has named the topic's kind. Until then facts are only kept, and patches make the state.
    private(set) var isKindKnown: Bool

    private var rules: TopicRules { kindRules.rules }
    private var limits: Rules.Limits { kindRules.limits }

    init(_ topic: TopicID, kind: TopicKind?, rules kindRules: KindRules) {
        self.topic = topic
        self.kind = kind ?? .generic
        isKindKnown = kind != nil
        self.kindRules = kindRules
        ledger = FactLedger(kind == nil ? kindRules.unknownLedger : kindRules.blankLedger)
        state = JSONObject()
        refreshState()
    }

    /// Adopts the kind, which has become known, and folds the facts kept so far with its reducer.
    mutating func adopt(_ kind: TopicKind, rules kindRules: KindRules) {
        self.kind = kind
        self.kindRules = kindRules
        isKindKnown = true
        ledger.refold(with: kindRules.blankLedger)
        refreshState()
    }

    /// Adopts other rules of the same kind. Facts that are folded stay as they are, because settled ones cannot be folded again.
    mutating func adopt(_ kindRules: KindRules) {
        self.kindRules = kindRules
        ledger.adopt(presentLedger)
        refreshState()
    }

    /// Ledger without facts by the present rules.
    private var presentLedger: BlankLedger { isKindKnown ? kindRules.blankLedger : kindRules.unknownLedger }

    private mutating func refreshState() {
        var whole = ledger.reducer.state
        if whole.isEmpty {
            whole = overlay
        } else {
            for key in hidden { whole[key] = nil }
            whole.merge(overlay)
        }
        state = kindRules.presented(whole, topic: topic)
    }

    /// Is `true` when there is something to show, so the topic can start without an explicit start.
    var isPresentable: Bool { ledger.reducer.isPresentable || !overlay.isEmpty }
    /// Reason why the topic is over; `nil` while it is not.
    var ending: String? { ledger.reducer.ending ?? (isOver ? "its state says that it is over" : nil) }

    /// Forgets the feed's patch numbers, which begin again.
    mutating func resetOrder() { patchOrder = PatchOrder() }

    // MARK: - Folding

    /// Folds an event's change into the state.
    mutating func take(_ event: FeedEvent) -> Folded {
        switch event.change {
        case .nothing, .operation: .nothing(nil)
        case .patch, .contentState: take(patch: event)
        case .fact(let fact): take(fact.at > event.at + FeedEvent.aheadMax ? fact.dated(event.at) : fact)
        case .retraction(let id): retract(id, at: event.at)
        }
    }

    /// Changes the overlay, unless a newer patch is in place or the state would become too large.
    private mutating func take(patch event: FeedEvent) -> Folded {
        var doubted: [PatchOrder.Doubted] = []
        // A correction passes the patch order: its operator knows what the feed has sent so far.
        if !event.isCorrection {
            switch patchOrder.placement(of: event, tolerance: rules.pace.lateAfter, sizeMax: kindRules.stateSizeMax) {
            case .newest(let over): doubted = over
            case .refused(let outcome, let reason): return .refused(outcome, reason)
            }
        }
        var folded = Folded.confirmed
        if !doubted.isEmpty || mayChange(event.change) {
            let before = doubted.isEmpty ? nil : (overlay, hidden, state)
            for patch in doubted { _ = put(patch.change) }
            if let size = put(event.change) {
                if let before { (overlay, hidden, state) = before }
                return .refused(.rejected, oversize(size))
            }
            folded = .patched(after: doubted)
        }
        // The feed's order stays unchanged, so its next patch overrides a correction.
        if !event.isCorrection { patchOrder.take(seq: event.seq, at: event.at) }
        return folded
    }

    /// Lays a change over the state.
    ///
    /// - Returns: the size of a state that would be too large; `nil` if it fits. A change that makes it too large is
    ///   undone, or the overlay would grow without bound.
    private mutating func put(_ change: FeedEvent.Change) -> ByteCount? {
        let (overlayBefore, hiddenBefore, stateBefore) = (overlay, hidden, state)
        switch change {
        case .patch(let patch): merge(patch)
        case .contentState(let content): replace(with: content)
        case .nothing, .fact, .retraction, .operation: return nil
        }
        guard overlay != overlayBefore || hidden != hiddenBefore else { return nil }
        refreshState()
        // Values that are redacted, or that the kind's own forms replace, are stored as well, so their size must be bounded, too.
        let size = max(sizeBeyond(state), storedSizeBeyond(overlay))
        guard size > .zero else { return nil }
        (overlay, hidden, state) = (overlayBefore, hiddenBefore, stateBefore)
        return size
    }

    private func mayChange(_ change: FeedEvent.Change) -> Bool {
        if case .patch(let patch) = change { mayChange(patch) } else { true }
    }

    /// Returns `true` if a patch may change the overlay. Most patches change no quantised value and end here.
    private func mayChange(_ patch: JSONObject) -> Bool { patch.members.contains { changes($0) } }

    private func changes(_ member: JSONObject.Member) -> Bool {
        let key = member.key
        switch quantised(member.value, of: key) {
        case .null: return overlay[key] != nil || !hidden.contains(key) && ledger.reducer.state[key] != nil
        case .object: return true
        case let value: return overlay[key] != value || hidden.contains(key)
        }
    }

    private mutating func merge(_ patch: JSONObject) {
        for member in patch.members {
            if member.value == .null {
                // Hides the facts' own value, if there is one.
                if ledger.reducer.state[member.key] != nil { hidden.insert(member.key) }
            } else if !hidden.isEmpty {
                hidden.remove(member.key)
            }
            overlay.merge(quantised(member.value, of: member.key), into: member.key)
        }
    }

    private mutating func replace(with content: JSONObject) {
        overlay = content
        for (key, _) in rules.content.fieldRules.quantisers {
            if let value = content[key] { overlay[key] = quantised(value, of: key) }
        }
        hidden = Set(ledger.reducer.state.members.lazy.map(\.key).filter { content[$0] == nil })
    }

    private func quantised(_ value: JSONValue, of key: String) -> JSONValue {
        guard let quantiser = rules.content.fieldRules.quantisers.first(where: { $0.key == key })?.quantiser else {
            return value
        }
        return quantiser.quantise(value, shown: state[key]) ?? value
    }

    private mutating func take(_ fact: Fact) -> Folded {
        guard fact.at.isPlausible else { return .refused(.rejected, implausible(fact.at)) }
        guard !fact.id.isEmpty, fact.id.utf8.count <= limits.idSizeMax.bytes else {
            return .refused(.rejected, "a fact's id has 1 to \(limits.idSizeMax), not \(fact.id.utf8.count)")
        }
        guard fact.kind.utf8.count <= limits.idSizeMax.bytes else {
            return .refused(.rejected, "a fact's kind has at most \(limits.idSizeMax)")
        }
        switch ledger.status(of: fact.id) {
        case .live, .withdrawn: return .refused(.duplicate, "fact \(fact.id) was here before")
        case .unknown, .awaited: break
        }
        guard ledger.reducer.understands(factKind: fact.kind) else {
            return .nothing("\(kind) topics know no fact \(fact.kind)")
        }
        if let fault = ledger.reducer.fault(in: fact) { return .refused(.rejected, fault) }
        var values: [UInt8] = []
        fact.values.write(to: &values)
        guard values.count <= limits.factSizeMax.bytes else {
            return .refused(.rejected, "fact \(fact.id) has \(values.count) bytes, at most \(limits.factSizeMax.bytes)")
        }
        if let settled = ledger.settledUntil, fact.at <= settled {
            return .refused(.late, "what happened until \(settled) is settled")
        }
        guard isKindKnown || !ledger.isFull else {
            return .refused(.rejected, "\(limits.factsMax) facts wait for the topic's kind to be known, and no more")
        }
        let entry = ledger.add(fact)
        refreshState()
        if case .withdrawal = entry { return .retracted(entry) }
        return isKindKnown ? .entered(entry) : .nothing("kept until the topic's kind is known")
    }

    private mutating func retract(_ id: String, at: FeedTime) -> Folded {
        guard !id.isEmpty, id.utf8.count <= limits.idSizeMax.bytes else {
            return .refused(.rejected, "a fact's id has 1 to \(limits.idSizeMax), not \(id.utf8.count)")
        }
        switch ledger.status(of: id) {
        case .withdrawn, .awaited: return .refused(.duplicate, "fact \(id) is withdrawn already")
        case .unknown:
            if let settled = ledger.settledUntil, at <= settled {
                return .nothing("what happened until \(settled) is settled")
            }
            guard ledger.await(id, withdrawnAt: at) else {
                return .refused(.rejected, "\(limits.earlyRetractionsMax) facts are withdrawn that have not arrived")
            }
            return .nothing("fact \(id) is not known; should it arrive, it counts as withdrawn")
        case .live:
            guard let entry = ledger.withdraw(id, at: at) else { return .nothing("fact \(id) is settled") }
            refreshState()
            return .entered(entry)
        }
    }

    /// Returns the canonical size of a state that is too large, `zero` for one that fits. Most states fit by their upper bound and are
    /// not encoded.
    private func sizeBeyond(_ state: JSONObject) -> ByteCount {
        let presented = withShortForms(state)
        guard presented.sizeBound > kindRules.stateSizeMax else { return .zero }
        let size = EncodedState(presented).size
        return size > kindRules.stateSizeMax ? size : .zero
    }

    private func storedSizeBeyond(_ overlay: JSONObject) -> ByteCount {
        guard overlay.sizeBound > kindRules.stateSizeMax else { return .zero }
        let size = EncodedState(overlay).size
        return size > kindRules.stateSizeMax ? size : .zero
    }

    /// Describes a state that follows from nothing, or a field that is hidden and patched; `nil` if there is none. For tests.
    func violation() -> String? {
        if let violation = ledger.violation() { return violation }
        if let key = hidden.first(where: { overlay[$0] != nil }) { return "\(key) is hidden and has a patch" }
        var again = self
        again.refreshState()
        guard EncodedState(again.state) == EncodedState(state), again.isOver == isOver else {
            return "the state of \(topic) is not that of its facts and patches"
        }
        return nil
    }

    func oversize(_ size: ByteCount) -> String {
        "the state of \(topic) would have \(size), at most \(kindRules.stateSizeMax.bytes)"
    }
}

/// Returns the reason for rejecting a time.
func implausible(_ time: FeedTime) -> String {
    "time \(time.milliseconds) ms is not between 1970 and 2100: milliseconds taken for seconds?"
}

// MARK: - Visible state

extension Fold {
    func present(_ shown: JSONObject) -> VisibleState {
        guard let own = ledger.reducer.shortForms(of: shown) else {
            return VisibleState(state: shown, encoded: EncodedState(shown), short: .state(shown))
        }
        let short = ShortForms(of: shown, topic: topic, reducer: own)
        return VisibleState(state: shown, encoded: EncodedState(shown.with(short)), short: .made(short))
    }

    /// Adds the short forms of the topic's kind to a visible state, unless rules or feed give some (rule M3). They repeat the
    /// state, so they are made when it is shown and never cause an update.
    func withShortForms(_ shown: JSONObject) -> JSONObject {
        ledger.reducer.shortForms(of: shown).map { shown.with(ShortForms(of: shown, topic: topic, reducer: $0)) }
            ?? shown
    }

    /// Returns the short forms of a visible state.
    func shortForms(of shown: JSONObject) -> ShortForms {
        ShortForms(of: shown, topic: topic, reducer: ledger.reducer.shortForms(of: shown))
    }
}

// MARK: - Serial form

extension Fold {
    /// Writes everything that `state` follows from.
    ///
    /// - Returns: `false` if the topic's reducer has no serial form.
    func write(to writer: inout SerialWriter) -> Bool {
        writer.write(topic.rawValue)
        writer.write(kind.rawValue)
        writer.write(isKindKnown)
        guard ledger.write(to: &writer, presentLedger) else { return false }
        writer.write(overlay)
        writer.write(all: hidden.map { BytewiseText($0) }.sorted()) { $0.write($1.text) }
        patchOrder.write(to: &writer)
        return true
    }

    /// - Parameter rules: returns the rules of a kind, or of topics whose kind is not known.
    init(reading reader: inout SerialReader, rules: (TopicKind?) -> KindRules) throws(SerialError) {
        topic = TopicID(try reader.text())
        kind = TopicKind(try reader.text())
        isKindKnown = try reader.flag("kind")
        kindRules = rules(isKindKnown ? kind : nil)
        let blank = isKindKnown ? kindRules.blankLedger : kindRules.unknownLedger
        ledger = try FactLedger(reading: &reader, blank)
        overlay = try reader.object()
        hidden = Set(try reader.all { (reader) throws(SerialError) in try reader.text() })
        patchOrder = try PatchOrder(reading: &reader)
        state = JSONObject()
        refreshState()
    }
}
