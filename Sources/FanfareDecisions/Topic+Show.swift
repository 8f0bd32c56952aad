import FanfareModel

extension Topic {
    /// Publishes the state at once, or holds it until the minimum interval has passed.
    mutating func show(_ change: VisibleChange, in context: inout DecisionContext, into decisions: inout [Decision]) {
        if let published = shown.state, kindRules.looksAlike(fold.state, published) {
            return context.draft.set(
                change.lateBy == nil ? .unchanged : .late, "back to what version \(shown.version) shows")
        }
        let visible = fold.present(fold.state)
        guard visible.encoded.size <= kindRules.stateSizeMax else {
            // The fact stays folded, and the next state that fits carries it.
            return postpone(change, .rejected, fold.oversize(visible.encoded.size), in: &context)
        }
        let occasion = occasion(of: change)
        context.draft.occasion = occasion?.kind
        let rule = occasion.flatMap { rules.occasions[$0.kind] }
        if let limit = rule?.droppableAfter, let age = change.age, age > limit, !change.mustPass {
            let reason = "late by \(age.inSeconds), too old for an update of its own: the next one carries it"
            return postpone(change, .late, reason, in: &context)
        }
        guard !orders.isPaused else {
            return postpone(change, .conflated, "until the topic is resumed: paused by an operator", in: &context)
        }
        let essential = rule?.essential ?? false
        let alert = alert(for: change, occasion, rule, in: &context)

        let passesFrom = shown.nextUpdate(after: rules.pace.minimumInterval, now: context.now)
        guard change.mustPass || essential || alert != nil || context.now >= passesFrom else {
            agenda.flushAt = passesFrom
            var reason = "until \(passesFrom), \(rules.pace.minimumInterval.inSeconds) after version \(shown.version)"
            if let lateBy = change.lateBy { reason += "; late by \(lateBy.inSeconds)" }
            return postpone(change, .conflated, reason, in: &context)
        }
        context.draft.reason = change.reason
        if let occasion, essential { context.draft.reason += ", \(occasion.kind) is essential" }
        if let lateBy = change.lateBy {
            context.draft.reason += ", late by \(lateBy.inSeconds)" + (alert == nil ? ": silent" : "")
        }
        let isUrgent = essential || alert != nil || change.event.isCorrection
        agenda.add(change.cause, max: limits.causesMax)
        let emphasis = Emphasis(
            priority: isUrgent ? .immediate : rules.priority, alert: alert, relevance: rule?.relevance)
        publish(.update, visible, emphasis, in: &context, into: &decisions)
    }

    /// Keeps the change as a cause of the next version, and notes why in the record.
    private mutating func postpone(
        _ change: VisibleChange, _ outcome: Outcome, _ reason: String, in context: inout DecisionContext
    ) {
        agenda.add(change.cause, max: limits.causesMax)
        context.draft.set(outcome, reason)
    }

    /// Returns the occasion of the change: facts have those of the reducer, states those whose conditions have come to hold.
    private func occasion(of change: VisibleChange) -> Occasion? {
        let told = change.entry.flatMap {
            fold.ledger.reducer.occasion(of: $0, before: change.before, shown: fold.state)
        }
        if let told, rules.occasions[told.kind] != nil { return told }
        let trigger = rules.triggers.first { _, rule in
            rule.holds(in: fold.state, after: shown.state) && !rule.holds(in: change.before, after: shown.state)
        }
        guard let (kind, rule) = trigger else { return told }
        return Occasion(kind, highlight: rule.shifts.first?.key ?? rule.when.first?.key, text: nil)
    }

    /// Ends the topic with its newest state, because of a change or, without one, because its feed was silent. An end always goes out.
    mutating func end(_ change: VisibleChange?, in context: inout DecisionContext, into decisions: inout [Decision]) {
        var alert: Alert?
        if let change {
            let occasion = occasion(of: change)
            context.draft.occasion = occasion?.kind
            alert = self.alert(for: change, occasion, occasion.flatMap { rules.occasions[$0.kind] }, in: &context)
            agenda.add(change.cause, max: limits.causesMax)
            context.draft.reason = change.reason
        }
        var last = fold.present(fold.state)
        if last.encoded.size > kindRules.stateSizeMax {
            context.draft.reason +=
                "; \(fold.oversize(last.encoded.size)), so it ends with what was shown last"
            last = fold.present(shown.state ?? JSONObject())
        }
        publish(.end, last, Emphasis(priority: .immediate, alert: alert), in: &context, into: &decisions)
    }

    /// Attention that a version requests.
    struct Emphasis {
        let priority: Priority
        var alert: Alert?
        /// Relevance of the occasion; `nil` uses the topic's own.
        var relevance: Int?
    }

    mutating func publish(
        _ event: Publication.Event, _ visible: VisibleState, _ emphasis: Emphasis,
        in context: inout DecisionContext, into decisions: inout [Decision]
    ) {
        // Each use reads its own rule of the kind: a variable with all of them would be a copy of all.
        let kindRules = kindRules
        let now = context.now
        let waiting = agenda
        agenda.clear()
        let hasBegun = kindRules.rules.lifetime.beginsWhen.hold(in: visible.state)
        let started = shown.publish(visible.state, hasBegun: hasBegun, isLast: event == .end, now: now)
        var dismissal: DismissalTime?
        if event == .end {
            let time = context.time(of: kindRules.rules.lifetime.dismissal, ofActivityLasting: now - started)
            dismissal = time
            agenda.lapseAt = now + time.duration(from: context.arrivedAt) + kindRules.rules.lifetime.forgetAfter
        } else {
            countSilence(from: now)
        }
        let publication = Publication(
            serial: context.nextSerial(), topicID: id,
            topic: TopicNumber(place: context.place, birth: birth), topicKind: kind, version: shown.version,
            event: event, state: visible.encoded, priority: emphasis.priority, alert: emphasis.alert,
            relevance: emphasis.relevance.map { max($0, kindRules.rules.relevance ?? $0) } ?? kindRules.rules.relevance,
            prominence: Prominence(
                hasBegun: hasBegun, importance: kindRules.rules.relevance ?? 0,
                occasionWeight: emphasis.relevance ?? emphasis.alert.map { Prominence.occasionWeight(with: $0.class) }),
            shortForms: visible.short,
            stateSizeMax: kindRules.stateSizeMax,
            staleAfter: kindRules.rules.pace.staleAfter.duration(
                gap: arrivals.gapMilliseconds.map { .milliseconds($0) }),
            dismissal: dismissal,
            freesID: event == .end && kindRules.rules.lifetime.reopens == .afresh,
            expiry: Expiry(
                renews: kindRules.rules.lifetime.renews,
                dismissal: context.time(
                    of: kindRules.rules.lifetime.dismissal, ofActivityLasting: TopicRules.durationMax)),
            scheduledAt: kindRules.rules.schedule(of: visible.state, shownSince: started),
            isRepublished: waiting.republishes)
        context.replaced = newest
        newest = publication
        isNewestWithheld = false
        decisions.append(.publish(publication))
        context.draft.outcome = .published
        context.draft.version = shown.version
        context.draft.causes = waiting.causes.ids
        if waiting.causes.unnamed > 0 {
            context.draft.reason += ", and \(waiting.causes.unnamed) more causes"
        }
    }
}

extension OccasionRule {
    /// - Parameter shown: state that people see; `nil` before the first.
    fileprivate func holds(in state: JSONObject, after shown: JSONObject?) -> Bool {
        guard when.hold(in: state) else { return false }
        guard !shifts.isEmpty else { return true }
        return shown.map { shown in shifts.allSatisfy { $0.holds(from: shown, to: state) } } ?? false
    }
}
