import FanfareModel

extension Topic {
    /// Folds an event and decides its visible effect. Appends the decisions for the fan-out, then the record.
    mutating func apply(_ event: FeedEvent, in context: inout DecisionContext, into decisions: inout [Decision]) {
        arrivals.count(at: context.now)
        decide(event, in: &context, into: &decisions)
        if !shown.ended { countSilence(from: context.now) }
        if event.isCorrection { context.draft.reason = "correction by an operator: " + context.draft.reason }
        if event.asksForAlert, context.draft.alert == nil {
            let outcome = context.draft.outcome
            let isVisible = outcome == .published || outcome == .conflated
            context.draft.alert = .demoted
            context.draft.alertReason =
                orders.isPaused
                ? "paused by an operator" : isVisible ? "late news does not alert" : "no update to ride on"
        }
        decisions.append(.record(DecisionRecord(of: event, in: id, now: context.now, context.draft)))
    }

    private mutating func decide(
        _ event: FeedEvent, in context: inout DecisionContext, into decisions: inout [Decision]
    ) {
        // A provider may give a retraction the id of the retracted event, so retractions are recognised by their target only.
        if let id = event.id, !event.isRetraction, arrivals.contains(id) {
            return context.draft.set(.duplicate, "event \(id) was here before")
        }
        if case .operation(let operation) = event.change {
            context.draft.reason = carryOut(operation, for: .topic, now: context.now)
            if let id = event.id { arrivals.insert(id) }
            return
        }
        guard isStartOfAnotherTenure(event) else {
            if let reason = reasonOfBefore(event, now: context.now) { return context.draft.set(.late, reason) }
            return decideChange(event, in: &context, into: &decisions)
        }
        let last = self
        beginAfresh(now: context.now)
        decideChange(event, in: &context, into: &decisions)
        // A rejected event changes nothing and begins no tenure.
        if context.draft.outcome == .rejected { self = last }
    }

    /// Decides an event that is neither a duplicate nor an operator's order.
    private mutating func decideChange(
        _ event: FeedEvent, in context: inout DecisionContext, into decisions: inout [Decision]
    ) {
        let before = fold.state
        let folded = fold.take(event)
        switch folded {
        case .refused(let outcome, let reason): context.draft.set(outcome, reason)
        case .patched(let doubted): for patch in doubted { agenda.add(patch.cause, max: limits.causesMax) }
        case .nothing, .confirmed, .entered, .retracted: break
        }
        let now = context.now
        let isFirst = arrivals.newestAt == nil && shown.state == nil
        let isBacklog = isFirst || !event.isCorrection && arrivals.isBehind(event, now: now)
        let age = arrivals.age(of: event)
        let lateBy = age.flatMap { $0 > rules.pace.lateAfter ? $0 : nil }
        note(event, isFirst: isFirst, isNewest: age == nil, in: context)
        // An end goes out even if its change was refused.
        if case .refused = folded, event.lifecycle != .end { return }

        if case .nothing(let reason?) = folded { context.draft.reason = reason }
        if context.draft.outcome == .unchanged, let lateBy {
            // The outcome remains `late` only if the event changes nothing visible.
            context.draft.set(.late, "late by \(lateBy.inSeconds), \(context.draft.reason)")
        }
        if case .withdrawal(let fact, _) = folded.entry, governor.hasGranted(fact.id) {
            decisions.append(.revokeAlert(topic: id, cause: fact.id))
        }
        if case .retracted = folded {
            context.draft.set(.retracted, "withdrawn before it arrived")
            // People see no new fact, but the state may report the withdrawal, as it would if both had come in order. The withdrawal
            // is never urgent, so a flush carries it.
            if !shown.ended, shown.state != nil, !kindRules.looksAlike(fold.state, before) {
                agenda.add(event.cause, max: limits.causesMax)
                agenda.flushAt = max(now, shown.nextUpdate(after: rules.pace.minimumInterval, now: now))
            }
            if event.lifecycle == nil { return }
        }
        var reopened = false
        if shown.ended {
            guard reopens(event, folded) else { return context.draft.set(.late, "after end") }
            // The fold keeps everything known of the topic.
            newest = newestLater(at: now)
            shown.reopen()
            scheduleNewest()
            reopened = true
            context.draft.outcome = .unchanged
        }

        // Most events change nothing and return here, before they are copied.
        if case .confirmed = folded, event.lifecycle == nil, shown.state != nil, fold.ending == nil { return }
        guard folded.changesState || event.lifecycle != nil else { return }
        let change = VisibleChange(
            event: event, entry: folded.entry, age: age, lateBy: lateBy, before: before, mustPass: event.isCorrection,
            isBacklog: isBacklog)
        act(on: change, folded, reopened: reopened, in: &context, into: &decisions)
    }

    /// Remembers an event that was taken.
    @inline(__always)
    private mutating func note(
        _ event: FeedEvent, isFirst: Bool, isNewest: Bool, in context: DecisionContext
    ) {
        // A rejected event may be corrected and sent again under its id.
        guard context.draft.outcome != .rejected else { return }
        if let id = event.id, !event.isRetraction { arrivals.insert(id) }
        // The time of an operator's correction must make no feed event late; nor must a clock that is ahead, hence the cap at `latest`.
        guard context.draft.outcome != .duplicate, !event.isCorrection else { return }
        arrivals.advance(
            to: min(event.at, context.latest), isNewest: isNewest,
            beginsTenure: isFirst && event.lifecycle == .start && rules.lifetime.reopens == .afresh, now: context.now)
    }

    /// Begins the topic, ends it, or shows its change, depending on the event.
    private mutating func act(
        on change: consuming VisibleChange, _ folded: Folded, reopened: Bool, in context: inout DecisionContext,
        into decisions: inout [Decision]
    ) {
        let event = change.event
        if event.lifecycle == .end {
            change.reason = "end"
            if case .refused(_, let refusal) = folded { change.reason += "; \(refusal)" }
            end(change, in: &context, into: &decisions)
        } else if shown.state == nil {
            let isStart = event.lifecycle == .start
            guard isStart || (folded.changesState && fold.isPresentable) else {
                if context.draft.outcome == .unchanged, folded.changesState {
                    context.draft.reason = "not enough to start with"
                }
                return
            }
            guard isStart || !fold.isOver else {
                if context.draft.outcome == .unchanged { context.draft.reason = "over before it was shown" }
                return
            }
            change.reason = reopened ? "begun again" : isStart ? "start" : "first state"
            change.mustPass = true
            show(change, in: &context, into: &decisions)
        } else if folded.changesState, let ending = fold.ending {
            change.reason = ending
            end(change, in: &context, into: &decisions)
        } else if folded.changesState, !kindRules.looksAlike(fold.state, change.before) {
            show(change, in: &context, into: &decisions)
        } else if event.lifecycle == .start, context.draft.outcome == .unchanged {
            context.draft.reason = "has started already"
        }
    }

    /// Returns `true` if the event begins an ended topic again.
    private func reopens(_ event: FeedEvent, _ folded: Folded) -> Bool {
        guard shown.mayReopen || rules.lifetime.reopens == .resumed, event.lifecycle != .end else { return false }
        if event.lifecycle == .start { return true }
        return folded.changesState && fold.isPresentable && fold.ending == nil
            && shown.state.map { !kindRules.looksAlike(fold.state, $0) } ?? true
    }
}

extension FeedEvent {
    fileprivate var isRetraction: Bool { if case .retraction = change { true } else { false } }
}

extension Folded {
    fileprivate var entry: LedgerEntry? {
        switch self {
        case .entered(let entry), .retracted(let entry): entry
        case .nothing, .confirmed, .patched, .refused: nil
        }
    }

    fileprivate var changesState: Bool {
        switch self {
        case .confirmed, .patched, .entered: true
        case .nothing, .retracted, .refused: false
        }
    }
}
