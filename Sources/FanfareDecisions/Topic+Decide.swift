public import FanfareModel

extension Topic {
    /// Folds an event and decides what people see of it. Appends the record, and before it what the fan-out is to do.
    ///
    /// - Parameter latest: no event that came by now can have happened later; log time, or the wall clock where that is ahead.
    mutating func apply(
        _ event: FeedEvent, now: FeedTime, latest: FeedTime, serial: inout UInt64, into decisions: inout [Decision]
    ) {
        var record = Verdict(reason: "nothing people can see")
        heard(at: now)
        decide(event, now: now, latest: latest, record: &record, serial: &serial, into: &decisions)
        if !ended { countSilence(from: now) }
        if event.isCorrection { record.reason = "correction by an operator: " + record.reason }
        if event.asksForAlert, record.alert == nil {
            record.alert = .demoted
            let hasNews = record.outcome == .published || record.outcome == .conflated
            record.alertReason =
                isPaused ? "paused by an operator" : hasNews ? "late news does not alert" : "no update to ride on"
        }
        decisions.append(.record(DecisionRecord(of: event, in: id, now: now, record)))
    }

    private mutating func decide(
        _ event: FeedEvent, now: FeedTime, latest: FeedTime, record: inout Verdict, serial: inout UInt64,
        into decisions: inout [Decision]
    ) {
        // A provider may name a withdrawal by the id of what it withdraws, so those are known by their target alone.
        if let id = event.id, !event.isRetraction, recentIDs.contains(id) {
            record.outcome = .duplicate
            record.reason = "event \(id) was here before"
            return
        }
        if case .operation(let operation) = event.change {
            record.reason = obey(operation, for: .topic, now: now)
            if let id = event.id { recentIDs.insert(id) }
            return
        }
        guard isStartOfAnotherTurn(event) else {
            if let reason = reasonOfBefore(event, now: now) {
                record.outcome = .late
                record.reason = reason
                return
            }
            return decideNews(event, now: now, latest: latest, record: &record, serial: &serial, into: &decisions)
        }
        let last = self
        beginAfresh()
        decideNews(event, now: now, latest: latest, record: &record, serial: &serial, into: &decisions)
        // What is refused changes nothing, and begins nothing.
        if record.outcome == .rejected { self = last }
    }

    /// What is neither known by its id nor an operator's order.
    private mutating func decideNews(
        _ event: FeedEvent, now: FeedTime, latest: FeedTime, record: inout Verdict, serial: inout UInt64,
        into decisions: inout [Decision]
    ) {
        let before = state
        let folded = fold(event)
        if case .refused(let outcome, let reason) = folded {
            record.outcome = outcome
            record.reason = reason
        }
        let isFirst = newestAt == nil && published == nil
        let isBacklog = isFirst || !event.isCorrection && lag.hasShrunk(to: now.milliseconds - event.at.milliseconds)
        let age = newestAt.flatMap { $0 > event.at ? $0 - event.at : nil }
        let lateBy = age.flatMap { $0 > rules.lateAfter ? $0 : nil }
        if record.outcome != .rejected {
            // What was rejected may be sent again, mended.
            if let id = event.id, !event.isRetraction { recentIDs.insert(id) }
            // A desk's clock makes nothing of the feed late, and no clock that is ahead makes late what comes in time.
            if record.outcome != .duplicate, !event.isCorrection {
                let at = min(event.at, latest)
                if age == nil { lag.note(now.milliseconds - at.milliseconds, at: now.milliseconds) }
                newestAt = max(at, newestAt ?? at)
                if isFirst, event.lifecycle == .start, rules.reopens == .afresh { turnBeganAt = at }
            }
        }
        // An end goes out, whatever came with it.
        if case .refused = folded, event.lifecycle != .end { return }

        if case .nothing(let reason?) = folded { record.reason = reason }
        if record.outcome == .unchanged, let lateBy {
            // For as long as nothing visible comes of it.
            record.outcome = .late
            record.reason = "late by \(lateBy.inSeconds), \(record.reason)"
        }
        let entry = folded.entry
        if case .withdrawal(let fact, _) = entry, governor.hasGranted(fact.id) {
            decisions.append(.revokeAlert(topic: id, cause: fact.id))
        }
        if case .retracted(let entry) = folded {
            record.outcome = .retracted
            record.reason = "withdrawn before it arrived"
            // Nothing has happened for people to see, but the state may tell of the withdrawal, as it would had both come
            // in their order. That is never urgent: a flush brings it.
            if !ended, published != nil, !looksAlike(state, before) { wait(for: event, entry, now: now) }
            if event.lifecycle == nil { return }
        }
        var reopened = false
        if ended {
            guard reopens(event, folded) else {
                record.outcome = .late
                record.reason = "after end"
                return
            }
            reopen()
            reopened = true
            record.outcome = .unchanged
        }

        // Most events change nothing: they are done here, before they are copied.
        if case .confirmed = folded, event.lifecycle == nil, published != nil, ending == nil { return }
        guard folded.changesState || event.lifecycle != nil else { return }
        var news = News(
            event: event, entry: entry, age: age, lateBy: lateBy, before: before, mustPass: event.isCorrection,
            isBacklog: isBacklog)
        if event.lifecycle == .end {
            news.reason = "end"
            if case .refused(_, let refusal) = folded { news.reason += "; \(refusal)" }
            end(news, now: now, record: &record, serial: &serial, into: &decisions)
        } else if published == nil {
            let isStart = event.lifecycle == .start
            guard isStart || (folded.changesState && isPresentable) else {
                if record.outcome == .unchanged, folded.changesState { record.reason = "not enough to start with" }
                return
            }
            guard isStart || !isOver else {
                if record.outcome == .unchanged { record.reason = "over before it was shown" }
                return
            }
            news.reason = reopened ? "begun again" : isStart ? "start" : "first state"
            news.mustPass = true
            show(news, now: now, record: &record, serial: &serial, into: &decisions)
        } else if folded.changesState, let ending {
            news.reason = ending
            end(news, now: now, record: &record, serial: &serial, into: &decisions)
        } else if folded.changesState, !looksAlike(state, before) {
            show(news, now: now, record: &record, serial: &serial, into: &decisions)
        } else if event.lifecycle == .start, record.outcome == .unchanged {
            record.reason = "has started already"
        }
    }

    /// Whether the event begins a topic again that has ended.
    private func reopens(_ event: FeedEvent, _ folded: Folded) -> Bool {
        guard mayReopen || rules.reopens == .resumed, event.lifecycle != .end else { return false }
        if event.lifecycle == .start { return true }
        return folded.changesState && isPresentable && ending == nil && published.map { !looksAlike(state, $0) } ?? true
    }

    /// From here on it goes as with a topic that was never shown, and remembers what it knows.
    private mutating func reopen() {
        ended = false
        mayReopen = false
        hasBegun = false
        published = nil
        startedAt = nil
        publishedAt = nil
    }

    private var isPresentable: Bool { ledger.reducer.isPresentable || !overlay.isEmpty }
    /// Why the topic is over, when it is.
    private var ending: String? { ledger.reducer.ending ?? (isOver ? "its state says that it is over" : nil) }

    // MARK: - Showing

    /// An event that changed something visible, on its way out.
    struct News {
        let event: FeedEvent
        let entry: LedgerEntry?
        /// How much older it is than the newest of its topic, where it is; late, where that is more than the rules let pass.
        let age: Duration?
        let lateBy: Duration?
        /// The topic's state without it.
        let before: JSONObject
        var reason = "visible change"
        /// Passes whatever the interval says.
        var mustPass = false
        /// Nothing of the topic had been heard or shown before the event, or its feed catches up with log time.
        var isBacklog = false

        var cause: String { event.cause }
    }

    /// Publishes the state at once, or lets it wait for the minimum interval.
    private mutating func show(
        _ news: News, now: FeedTime, record: inout Verdict, serial: inout UInt64,
        into decisions: inout [Decision]
    ) {
        if let published, looksAlike(state, published) {
            record.outcome = news.lateBy == nil ? .unchanged : .late
            record.reason = "back to what version \(version) shows"
            return
        }
        let shown = present(state)
        guard shown.encoded.bytes.count <= stateBytesMax else {
            // The fact is folded all the same, and the next state that fits carries it.
            pending.add(news.cause, max: limits.causesMax)
            record.outcome = .rejected
            record.reason = oversize(shown.encoded.bytes.count)
            return
        }
        let occasion = occasion(of: news)
        record.occasion = occasion?.kind
        let rule = occasion.flatMap { rules.occasions[$0.kind] }
        if let limit = rule?.droppableAfter, let age = news.age, age > limit, !news.mustPass {
            pending.add(news.cause, max: limits.causesMax)
            record.outcome = .late
            record.reason = "late by \(age.inSeconds), too old for an update of its own: the next one carries it"
            return
        }
        guard !isPaused else {
            pending.add(news.cause, max: limits.causesMax)
            record.outcome = .conflated
            record.reason = "until the topic is resumed: paused by an operator"
            return
        }
        let essential = rule?.essential ?? false
        let alert = alert(for: news, occasion, rule, now: now, record: &record)

        let passesFrom = publishedAt.map { $0 + rules.minimumInterval } ?? now
        guard news.mustPass || essential || alert != nil || now >= passesFrom else {
            pending.add(news.cause, max: limits.causesMax)
            flushAt = passesFrom
            record.outcome = .conflated
            record.reason = "until \(passesFrom), \(rules.minimumInterval.inSeconds) after version \(version)"
            if let lateBy = news.lateBy { record.reason += "; late by \(lateBy.inSeconds)" }
            return
        }
        record.reason = news.reason
        if let occasion, essential { record.reason += ", \(occasion.kind) is essential" }
        if let lateBy = news.lateBy {
            record.reason += ", late by \(lateBy.inSeconds)" + (alert == nil ? ": silent" : "")
        }
        let isUrgent = essential || alert != nil || news.event.isCorrection
        pending.add(news.cause, max: limits.causesMax)
        publish(
            .update, shown, priority: isUrgent ? .immediate : rules.priority, alert: alert,
            relevance: rule?.relevance, now: now, record: &record, serial: &serial, into: &decisions)
    }

    /// What the news amounts to: the reducer tells of facts, the rules of what has come to hold of the state.
    private func occasion(of news: News) -> Occasion? {
        let told = news.entry.flatMap { ledger.reducer.occasion(of: $0, before: news.before, shown: state) }
        if let told, rules.occasions[told.kind] != nil { return told }
        let trigger = rules.triggers.first { $0.when.hold(in: state) && !$0.when.hold(in: news.before) }
        guard let trigger else { return told }
        return Occasion(trigger.kind, highlight: trigger.when.first?.key, text: nil)
    }

    /// Ends the topic with its newest state, because of an event or (without news) of its age. An end always goes out.
    private mutating func end(
        _ news: News?, now: FeedTime, record: inout Verdict, serial: inout UInt64,
        into decisions: inout [Decision]
    ) {
        var alert: Alert?
        if let news {
            let occasion = occasion(of: news)
            record.occasion = occasion?.kind
            alert = self.alert(
                for: news, occasion, occasion.flatMap { rules.occasions[$0.kind] }, now: now, record: &record)
            pending.add(news.cause, max: limits.causesMax)
            record.reason = news.reason
        }
        var last = present(state)
        if last.encoded.bytes.count > stateBytesMax {
            record.reason += "; \(oversize(last.encoded.bytes.count)), so it ends with what was shown last"
            last = present(published ?? JSONObject())
        }
        publish(
            .end, last, priority: .immediate, alert: alert, relevance: nil, now: now, record: &record,
            serial: &serial, into: &decisions)
    }

    private mutating func publish(
        _ event: Publication.Event, _ shown: Presentation, priority: Priority, alert: Alert?, relevance: Int?,
        now: FeedTime, record: inout Verdict, serial: inout UInt64,
        into decisions: inout [Decision]
    ) {
        let started = startedAt ?? now
        startedAt = started
        serial += 1
        version += 1
        published = shown.state
        publishedAt = now
        flushAt = nil
        hasBegun = rules.beginsWhen.hold(in: shown.state)
        var dismissAfter: Duration?
        if event == .end {
            ended = true
            let shownFor = rules.dismissal.duration(ofActivityLasting: now - started, until: now)
            dismissAfter = shownFor
            lapseAt = now + shownFor + rules.forgetAfter
        } else {
            countSilence(from: now)
        }
        decisions.append(
            .publish(
                Publication(
                    serial: serial, topicID: id, topicKind: kind, version: version, event: event,
                    state: shown.encoded, priority: priority, alert: alert,
                    relevance: relevance.map { max($0, rules.relevance ?? $0) } ?? rules.relevance,
                    prominence: Prominence(
                        hasBegun: hasBegun, importance: rules.relevance ?? 0,
                        news: relevance ?? alert.map { Prominence.news(with: $0.class) }),
                    short: shown.short,
                    stateBytesMax: stateBytesMax,
                    staleAfter: rules.staleAfter.duration(gap: gapMilliseconds.map { .milliseconds($0) }),
                    dismissAfter: dismissAfter,
                    freesID: event == .end && rules.reopens == .afresh,
                    expiry: Expiry(
                        renews: rules.renews,
                        dismissAfter: rules.dismissal.duration(ofActivityLasting: TopicRules.durationMax, until: now)),
                    isRepublished: republishes)))
        republishes = false
        record.outcome = .published
        record.version = version
        record.causes = pending.ids
        if pending.unnamed > 0 { record.reason += ", and \(pending.unnamed) more causes" }
        pending = Causes()
    }

    private mutating func wait(for event: FeedEvent, _ entry: LedgerEntry, now: FeedTime) {
        let news = News(event: event, entry: entry, age: nil, lateBy: nil, before: state)
        pending.add(news.cause, max: limits.causesMax)
        flushAt = max(now, publishedAt.map { $0 + rules.minimumInterval } ?? now)
    }

    // MARK: - Alerts

    /// The alert that rides on this news, if one was asked for and is granted.
    private mutating func alert(
        for news: News, _ occasion: Occasion?, _ occasionRule: OccasionRule?, now: FeedTime, record: inout Verdict
    ) -> Alert? {
        var rule = occasionRule?.alert
        guard rule != nil || news.event.asksForAlert else { return nil }
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
            cause = news.event.id ?? "\(news.event.kind)/\(version + 1)"
        }
        guard let text = news.event.alert ?? rule.flatMap({ text(by: $0, of: news, occasion) }) else { return nil }
        let kind = rule == nil ? OccasionKind.requested : occasion?.kind ?? .requested
        let governing = rule ?? rules.requestedAlerts
        guard !isMuted else {
            record.alert = .demoted
            record.alertReason = "muted by an operator"
            return nil
        }
        switch governor.rule(on: kind, governing, text: text, cause: cause, now: now) {
        case .granted:
            record.alert = .granted
            record.alertReason = "\(kind)"
            return Alert(
                cause: cause, class: governing.class, text: text, freshFor: freshFor,
                highlight: occasionRule?.highlight ?? occasion?.highlight)
        case .demoted(let reason):
            record.alert = .demoted
            record.alertReason = reason
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
        case .fact(let told), .withdrawal(let told, _): fact = kindRules.redacted(told.values, in: state)
        case nil: break
        }
        return AlertText(
            title: words.title.text(topic: id, state: state, fact: fact),
            body: words.body.text(topic: id, state: state, fact: fact), sound: words.sound)
    }

    // MARK: - Timers

    /// Acts on a deadline of this topic that has come.
    mutating func fire(_ timer: Timers.Kind, now: FeedTime, serial: inout UInt64, into decisions: inout [Decision]) {
        var record = Verdict(reason: "")
        switch timer {
        case .flush: flush(now: now, record: &record, serial: &serial, into: &decisions)
        case .lapse:
            let silence = hasBegun ? rules.endsAfterSilence : rules.beginsWithin
            record.reason = "its feed has been silent for \(silence.inSeconds)"
            end(nil, now: now, record: &record, serial: &serial, into: &decisions)
        }
        decisions.append(
            .record(DecisionRecord(ofTimer: timer == .flush ? "flush" : "silence", in: id, now: now, record)))
    }

    /// Whether its lapse ends nothing that people could see: then the topic is forgotten.
    var isForgottenAtLapse: Bool { ended || published == nil }

    /// What the log says then.
    ///
    /// - Parameter reason: `nil`: its lapse has come.
    func obituary(now: FeedTime, reason: String?) -> DecisionRecord {
        let lapse =
            ended
            ? "its end was dismissed \(rules.forgetAfter.inSeconds) ago"
            : "its feed has been silent for \(rules.beginsWithin.inSeconds), and nothing is shown"
        return DecisionRecord(ofTimer: DecisionRecord.forget, in: id, now: now, Verdict(reason: reason ?? lapse))
    }

    private mutating func flush(
        now: FeedTime, record: inout Verdict, serial: inout UInt64, into decisions: inout [Decision]
    ) {
        flushAt = nil
        guard !isPaused else {
            record.reason = "paused by an operator"
            return
        }
        let shown = present(state)
        if let published, looksAlike(state, published), !republishes {
            record.reason = "back to what version \(version) shows"
            pending = Causes()
        } else if shown.encoded.bytes.count > stateBytesMax {
            record.outcome = .rejected
            record.reason = oversize(shown.encoded.bytes.count)
        } else {
            record.reason = pending.count == 1 ? "one change waited" : "\(pending.count) changes waited"
            if republishes { record.reason = "republished by an operator" }
            publish(
                .update, shown, priority: rules.priority, alert: nil, relevance: nil, now: now,
                record: &record, serial: &serial, into: &decisions)
        }
    }
}

extension OccasionKind {
    /// An alert in a native feed's own words.
    public static let requested = OccasionKind("requested")
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
