import FanfareModel

extension Topic {
    /// Returns the alert that rides on this change, if one was requested and is granted.
    mutating func alert(
        for change: VisibleChange, _ occasion: Occasion?, _ occasionRule: OccasionRule?,
        in context: inout DecisionContext
    ) -> Alert? {
        var rule = occasionRule?.alert
        guard rule != nil || change.event.asksForAlert else { return nil }
        let now = context.now
        // Age of the event that counts against the alert's freshness: relative to the newest event, at most that at its arrival.
        let age = change.age.map { min($0, max(context.arrivedAt - change.event.at, .zero)) } ?? .zero
        var freshFor = (rule ?? rules.alerts.requested).freshFor - age
        let cause: String
        var isCauseOfProvider = true
        switch change.entry {
        case .withdrawal(let fact, _):
            // A cancellation is news now, whatever its date, but only if the goal's alert was granted.
            if !governor.hasGranted(fact.id) { rule = nil }
            freshFor = (rule ?? rules.alerts.requested).freshFor
            cause = fact.id + "/cancelled"
        case .fact(let fact):
            if isTooLate(change, for: rule, arrivedAt: context.arrivedAt) { return nil }
            cause = fact.id
        case nil:
            if isTooLate(change, for: rule, arrivedAt: context.arrivedAt) { return nil }
            cause = change.event.id ?? "\(change.event.kind)/\(shown.version + 1)"
            isCauseOfProvider = change.event.id != nil
        }
        guard let text = change.event.alert ?? rule.flatMap({ text(by: $0, of: change, occasion) }) else { return nil }
        let kind = rule == nil ? OccasionKind.requested : occasion?.kind ?? .requested
        let governing = rule ?? rules.alerts.requested
        guard !orders.isMuted else {
            context.draft.alert = .demoted
            context.draft.alertReason = "muted by an operator"
            return nil
        }
        switch governor.decide(on: kind, governing, of: kindRules, text: text, cause: cause, now: now) {
        case .granted:
            context.draft.alert = .granted
            context.draft.alertReason = "\(kind)"
            context.draft.alertCause = cause
            return Alert(
                cause: cause, isCauseOfProvider: isCauseOfProvider, class: governing.class, text: text,
                freshFor: freshFor,
                highlight: occasionRule?.highlight ?? occasion?.highlight, grantedAt: now,
                arrivedAt: context.arrivedAt)
        case .demoted(let reason):
            context.draft.alert = .demoted
            context.draft.alertReason = reason
            return nil
        }
    }

    /// Returns `true` if the change is too old to alert. An essential alert is too old only when it is no longer fresh: people do not
    /// forgive a missed goal that was entered a minute after the next pass.
    ///
    /// The first event of a topic has no other event to be compared with. If it is older at its arrival than an alert stays fresh, it
    /// belongs to a forgotten topic, corrects it the morning after, or is repeated after a restart; the events that follow are as old.
    private func isTooLate(_ change: VisibleChange, for rule: AlertRule?, arrivedAt: FeedTime) -> Bool {
        let governing = rule ?? rules.alerts.requested
        if change.isBacklog, arrivedAt > change.event.at, arrivedAt - change.event.at > governing.freshFor {
            return true
        }
        guard let age = change.age else { return false }
        return age
            > (governing.class == .essential ? governing.freshFor : min(rules.pace.lateAfter, governing.freshFor))
    }

    private func text(by rule: AlertRule, of change: VisibleChange, _ occasion: Occasion?) -> AlertText? {
        guard let words = rule.words else { return occasion?.text }
        var fact = JSONObject()
        switch change.entry {
        case .fact(let told), .withdrawal(let told, _): fact = kindRules.redacted(told.values, in: fold.state)
        case nil: break
        }
        return AlertText(
            title: words.title.text(topic: id, state: fold.state, fact: fact),
            body: words.body.text(topic: id, state: fold.state, fact: fact), sound: words.sound)
    }
}
