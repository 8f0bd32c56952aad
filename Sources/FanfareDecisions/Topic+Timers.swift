import FanfareModel

extension Topic {
    /// Acts on a deadline of this topic that has come.
    mutating func fire(
        _ timer: Timers.Kind, in context: inout DecisionContext, into decisions: inout [Decision]
    ) {
        switch timer {
        case .flush: flush(in: &context, into: &decisions)
        case .lapse:
            let silence = shown.hasBegun ? rules.lifetime.endsAfterSilence : rules.lifetime.beginsWithin
            context.draft.reason = "its feed has been silent for \(silence.inSeconds)"
            end(nil, in: &context, into: &decisions)
        }
        decisions.append(
            .record(
                DecisionRecord(
                    ofTimer: timer == .flush ? "flush" : "silence", in: id, now: context.now, context.draft)))
    }

    private mutating func flush(in context: inout DecisionContext, into decisions: inout [Decision]) {
        agenda.flushAt = nil
        guard !orders.isPaused else {
            context.draft.reason = "paused by an operator"
            return
        }
        let visible = fold.present(fold.state)
        if let published = shown.state, kindRules.looksAlike(fold.state, published), !agenda.republishes {
            context.draft.reason = "back to what version \(shown.version) shows"
            agenda.clear()
        } else if visible.encoded.size > kindRules.stateSizeMax {
            context.draft.set(.rejected, fold.oversize(visible.encoded.size))
        } else {
            let count = agenda.causes.count
            context.draft.reason =
                agenda.republishes
                ? "republished by an operator" : count == 1 ? "one change waited" : "\(count) changes waited"
            publish(.update, visible, Emphasis(priority: rules.priority), in: &context, into: &decisions)
        }
    }

    /// Is `true` if the topic's lapse forgets it instead of ending it, because it has ended or was never shown.
    var isForgottenAtLapse: Bool { shown.ended || shown.state == nil }

    /// Returns the record that says that the topic is forgotten, and why.
    ///
    /// - Parameter reason: text of the record; `nil` if the topic's lapse has come.
    func obituary(now: FeedTime, reason: String?) -> DecisionRecord {
        let lapse =
            shown.ended
            ? "its end was dismissed \(rules.lifetime.forgetAfter.inSeconds) ago"
            : "its feed has been silent for \(rules.lifetime.beginsWithin.inSeconds), and nothing is shown"
        return DecisionRecord(ofTimer: DecisionRecord.forget, in: id, now: now, RecordDraft(reason: reason ?? lapse))
    }
}
