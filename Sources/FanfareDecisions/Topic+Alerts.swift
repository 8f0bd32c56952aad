public import FanfareModel

extension Topic {
    /// The alert that rides on this news, if one was asked for and is granted.
    mutating func alert(
        for news: News, _ occasion: Occasion?, _ occasionRule: OccasionRule?, in context: inout DecisionContext
    ) -> Alert? {
        var rule = occasionRule?.alert
        guard rule != nil || news.event.asksForAlert else { return nil }
        let now = context.now
        // How long ago it happened, as far as that keeps it from alerting.
        let age = news.age.map { min($0, max(now - news.event.at, .zero)) } ?? .zero
        var freshFor = (rule ?? rules.requestedAlerts).freshFor - age
        let cause: String
        switch news.entry {
        case .withdrawal(let fact, _):
            // The cancellation is news now, whenever it was dated; but only to those who were told of the goal.
            if !governor.hasGranted(fact.id) { rule = nil }
            freshFor = (rule ?? rules.requestedAlerts).freshFor
            cause = fact.id + "/cancelled"
        case .fact(let fact):
            if isTooLate(news, for: rule, now: now) { return nil }
            cause = fact.id
        case nil:
            if isTooLate(news, for: rule, now: now) { return nil }
            cause = news.event.id ?? "\(news.event.kind)/\(shown.version + 1)"
        }
        guard let text = news.event.alert ?? rule.flatMap({ text(by: $0, of: news, occasion) }) else { return nil }
        let kind = rule == nil ? OccasionKind.requested : occasion?.kind ?? .requested
        let governing = rule ?? rules.requestedAlerts
        guard !orders.isMuted else {
            context.verdict.alert = .demoted
            context.verdict.alertReason = "muted by an operator"
            return nil
        }
        switch governor.rule(on: kind, governing, of: kindRules, text: text, cause: cause, now: now) {
        case .granted:
            context.verdict.alert = .granted
            context.verdict.alertReason = "\(kind)"
            return Alert(
                cause: cause, class: governing.class, text: text, freshFor: freshFor,
                highlight: occasionRule?.highlight ?? occasion?.highlight)
        case .demoted(let reason):
            context.verdict.alert = .demoted
            context.verdict.alertReason = reason
            return nil
        }
    }

    /// Nobody forgives a goal that was kept from them because it was entered a minute after the next pass.
    ///
    /// With the first event of a topic there is nothing of the feed to compare. What is older by log time than any alert may be is told
    /// of a topic that was forgotten, by a correction of the morning after, or once more after a restart; and then what follows is as old.
    private func isTooLate(_ news: News, for rule: AlertRule?, now: FeedTime) -> Bool {
        let governing = rule ?? rules.requestedAlerts
        if news.isBacklog, now > news.event.at, now - news.event.at > governing.freshFor { return true }
        guard let age = news.age else { return false }
        return age > (governing.class == .essential ? governing.freshFor : min(rules.lateAfter, governing.freshFor))
    }

    private func text(by rule: AlertRule, of news: News, _ occasion: Occasion?) -> AlertText? {
        guard let words = rule.words else { return occasion?.text }
        var fact = JSONObject()
        switch news.entry {
        case .fact(let told), .withdrawal(let told, _): fact = kindRules.redacted(told.values, in: fold.state)
        case nil: break
        }
        return AlertText(
            title: words.title.text(topic: id, state: fold.state, fact: fact),
            body: words.body.text(topic: id, state: fold.state, fact: fact), sound: words.sound)
    }
}

extension OccasionKind {
    /// An alert in a native feed's own words.
    public static let requested = OccasionKind("requested")
}
