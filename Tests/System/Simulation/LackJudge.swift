import FanfareModel

/// Judges the answer to a question by what a phone lacked when the question reached the shard: the phone has it now, is gone, shows another
/// audience, or was refused it for good.
struct LackJudge {
    /// The judge of the states that the shard's phones show now.
    let states: StateJudge

    /// - Returns: what the phone still lacks.
    func seen(_ lack: Lack, of phone: Phone, after history: PushHistory, aged age: CardAge) -> String? {
        if isDone(phone, aged: age) { return nil }
        switch lack.thing {
        case .end:
            // A phone that came back before its end was sent may have left again since.
            guard phone.following.joins == lack.joins else { return nil }
            return phone.served == nil || phone.naming.isDetached ? "left and was not ended" : nil
        case .start:
            guard !phone.hasToken, phone.card?.isOut == false, phone.following.joins == lack.joins else { return nil }
            return "was not started"
        case .state(let serial, let newest):
            guard phone.following.joins == lack.joins, !phone.naming.isDetached,
                max(history.states.acceptedSerial, history.states.lastRefused) < serial
            else { return nil }
            // The newest versions may look like the state that it has or was refused.
            guard let served = phone.served else { return nil }
            var versions: [TopicID: [Publication]] = [:]
            for (topic, version) in newest {
                let later = states.published.told[topic, default: []].map(\.publication).filter {
                    $0.serial > version.serial
                }
                versions[topic] = [version] + later
            }
            let wrong = [history.states.accepted, history.states.refusedState].compactMap(\.self).map {
                states.stale($0, beside: served, versions: versions)
            }
            return wrong.contains(nil) ? nil : "shows \(wrong.first.flatMap(\.self) ?? "nothing")"
        }
    }

    /// Is `true` if the phone still lacks what it had been refused before the question came.
    func isRefused(_ lack: Lack, of phone: Phone, after history: PushHistory, aged age: CardAge) -> Bool {
        guard let refused = lack.refused else { return false }
        return history.states.refusedSerial == refused && history.states.acceptedSerial < refused
            && phone.following.joins == lack.joins && !isDone(phone, aged: age)
            && refused == states.published.newestSerial(for: phone.following)
    }

    /// Is `true` if the phone lacks nothing any more.
    private func isDone(_ phone: Phone, aged age: CardAge) -> Bool {
        phone.life.isGone || phone.life.isExpired || age.isLetGo
    }
}
