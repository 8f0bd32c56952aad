/// What a person loses by changing what an activity shows: nothing. An alert that it missed in the audience it leaves, of a topic
/// that the next one shows too, is brought along and told with the first push there.
struct Brought {
    /// Still to be told, the oldest first.
    var alerts: [PendingAlert] = []
    /// Those whose chance is a push that left before the move: its answer tells.
    var onTheWay: [PendingAlert] = []
}

extension Shard {
    /// - Parameter key: is not to be refused.
    func move(_ slot: ActivitySlot, to key: AudienceKey, at moment: Moment) {
        guard !store[slot].flags.contains(.leaving) else { return }
        // With its end on the way, nothing follows; but if its successor may be there, its name is about to mean that.
        let isEnding = store[slot].flags.contains(.ending) || awaitsEnd(slot, of: key)
        let successor = successor(of: slot).flatMap { successor in
            awaitsEnd(successor, of: key) || isEnding && starts[successor]?.phase != .sent ? nil : successor
        }
        if isEnding, successor == nil { return }
        let index = audienceIndex(key, at: moment)
        if let successor { moveStart(successor, to: index, at: moment) }
        if isEnding { return }
        guard !store[slot].flags.contains(.tokenless) else {
            moveStart(slot, to: index, at: moment)
            return
        }
        guard store[slot].audience != UInt32(index) else { return }
        // An audience without a version is of topics that are over, or unheard of: it waits for what has not been published.
        let shown = audiences[index].target > 0 ? Set(audiences[index].topics.map { topics[$0].id }) : []
        let missed = alertsMissed(by: slot).filter { shown.contains($0.topic) && $0.isCarried(at: moment) }
        leaveAudience(slot, at: moment)
        join(slot, index)
        bring(missed, to: slot)
    }

    /// Only an activity that is owed its first push has something with it.
    func brings(_ slot: ActivitySlot) -> Bool { !brought.isEmpty && brought[slot] != nil }

    private func alertsMissed(by slot: ActivitySlot) -> Brought {
        let activity = store[slot]
        var missed = brought[slot] ?? Brought()
        guard activity.audience != ActivityStore.noAudience else { return missed }
        let own = audiences[Int(activity.audience)].alerts(after: activity.alerted)
        if activity.flags.contains(.inFlight), activity.sending != 0 {
            let sent = own.prefix { $0.version <= activity.sending }
            missed.onTheWay += missed.alerts + sent
            missed.alerts = Array(own.dropFirst(sent.count))
        } else {
            missed.alerts += own
        }
        let kept = Array(missed.alerts.kept)
        counts.alerts.superseded += missed.alerts.count - kept.count
        missed.alerts = kept
        return missed
    }

    private func bring(_ alerts: Brought, to slot: ActivitySlot) {
        guard !alerts.alerts.isEmpty || !alerts.onTheWay.isEmpty else {
            forgetBrought(slot)
            return
        }
        brought[slot] = alerts.missed(at: store[slot].alerted)
        comeAgain(slot)
    }

    func forgetBrought(_ slot: ActivitySlot) {
        if !brought.isEmpty { brought[slot] = nil }
    }

    func revokeBrought(cause: String, topic: TopicID) {
        for slot in brought.keys { brought[slot]?.revoke(cause, topic) }
    }

    /// Alerts that the activity's next push may tell of: brought along, and missed in its audience since; no more than anybody
    /// else may miss, or an older one would outlive a newer one.
    func pending(_ slot: ActivitySlot, of audience: Audience) -> ArraySlice<PendingAlert> {
        ((brought[slot]?.alerts ?? []) + audience.alerts(after: store[slot].alerted)).kept
    }

    /// A push to an activity that brings alerts along was answered: either the one which told of them, or one that left before
    /// the move and was the chance of some.
    func answer(_ outcome: DeliveryOutcome, bringing slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        guard var brought = brought[slot] else { return }
        switch outcome {
        case .accepted, .refused, .unknown:
            if activity.sending != 0 {
                if outcome != .unknown {
                    let settled = pending(slot, of: audiences[Int(activity.audience)])
                        .prefix { $0.version <= activity.sending }
                    let lead = activity.sendingAlert.isNone ? nil : settled.told(at: moment)?.lead
                    let silence = activity.sendingAlert.silence
                    countAlerts(
                        settled, led: lead, silence: silence, isRefused: outcome == .refused, 1, at: moment)
                    rememberAlerts(
                        settled, led: lead,
                        told: silence.map(AlertOutcome.silenced) ?? (outcome == .accepted ? .accepted : .refused),
                        of: [slot], at: moment)
                }
                brought.alerts = []
            } else {
                let settled = brought.onTheWay[...]
                if outcome != .unknown {
                    countAlerts(
                        settled, led: settled.told(at: moment)?.lead, silence: nil, isRefused: outcome == .refused,
                        1, at: moment)
                } else if outcome == .unknown, !settled.isEmpty {
                    counts.alerts.uncertain += 1
                }
                brought.onTheWay = []
            }
        case .throttled, .serviceError, .notProcessed, .deadToken:
            brought.alerts = brought.onTheWay + brought.alerts
            brought.onTheWay = []
        }
        if brought.alerts.isEmpty { forgetBrought(slot) } else { self.brought[slot] = brought }
    }
}

extension Brought {
    fileprivate func filter(_ isWanted: (PendingAlert) -> Bool) -> Brought {
        Brought(alerts: alerts.filter(isWanted), onTheWay: onTheWay.filter(isWanted))
    }

    /// In the new audience they count as its last ones before the activity came.
    fileprivate func missed(at version: UInt32) -> Brought {
        func missed(_ alert: PendingAlert) -> PendingAlert {
            var alert = alert
            alert.version = version
            alert.number = 0
            return alert
        }
        return Brought(alerts: alerts.map(missed), onTheWay: onTheWay.map(missed))
    }

    fileprivate mutating func revoke(_ cause: String, _ topic: TopicID) {
        for index in alerts.indices where alerts[index].alert.cause == cause && alerts[index].topic == topic {
            alerts[index].isRevoked = true
        }
        for index in onTheWay.indices where onTheWay[index].alert.cause == cause && onTheWay[index].topic == topic {
            onTheWay[index].isRevoked = true
        }
    }
}
