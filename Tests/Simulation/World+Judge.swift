import FanfareCore

extension World {
    /// Everything that can be said of a push at the moment it is handed out. Numbers are the design's invariants.
    func judge(_ delivery: Delivery, to index: Int, token: [UInt8], from node: Node) -> String? {
        let phone = phones[index]
        let payload = delivery.payload
        pushesSeen += 1
        if phone.flying > 0 { return "two pushes in flight" }
        if phone.isGone { return "a push after its end (3)" }
        if token != phone.servedToken { return "a push to a token that was replaced before" }
        if payload.stamp < phone.lastStamp { return "stamp \(payload.stamp) after \(phone.lastStamp) (2)" }
        if payload.stamp > moment.wallSeconds + 60 + 5 { return "stamp more than a minute ahead" }
        if payload.stamp == phone.lastStamp,
            !phone.lastMayRepeat || newestSerial(of: phone.served, node: node) != phone.lastSerial
        {
            return "two states with stamp \(payload.stamp) (2)"
        }
        if payload.event == .update, payload.state == phone.lastState, !phone.lastMayRepeat {
            return "the same state twice (5)"
        }
        if let served = phone.served {
            if payload.state != newestState(of: served, node: node, carrying: payload.alert) {
                return "not the newest state: \(String(decoding: payload.state, as: UTF8.self)) (1)"
            }
        } else if payload.event != .end || payload.dismissalDate ?? .max > moment.wallSeconds {
            return "something else than one private end after an unfollow"
        }
        if let alert = payload.alert {
            alertsSeen += 1
            if phone.alertsTried.contains(alert.title) { return "alert \(alert.title) twice (4)" }
            if node.revoked.contains(alert.title) { return "alert \(alert.title) after its revocation (4)" }
            guard let carried = phone.missed.first(where: { $0.cause == alert.title }) else {
                return "alert \(alert.title) that this activity did not miss (4)"
            }
            if phone.missed.contains(where: { $0.class > carried.class }) { return "a higher alert stayed behind (4)" }
            if payload.priority != .immediate { return "an alert at priority 5" }
        } else if let missed = phone.missed.last, !phone.alertsTried.contains(missed.cause) {
            return "silent though alert \(missed.cause) was missed (4)"
        }
        return nil
    }

    func newestSerial(of audience: AudienceKey?, node: Node) -> UInt64 {
        audience?.topics.compactMap { node.latest[$0]?.serial }.max() ?? 0
    }

    /// What an audience's members must be shown by this shard now: written apart from the engine, as plainly as possible.
    private func newestState(of audience: AudienceKey, node: Node, carrying alert: AlertText?) -> [UInt8]? {
        func highlighted(_ publication: Publication) -> [UInt8] {
            let carriesAlert = alert.map { $0.title.hasPrefix(publication.topicID.rawValue + "/") } ?? false
            return carriesAlert ? publication.state.highlighting("homeScore") : publication.state.bytes
        }
        switch audience {
        case .topic(let topic): return node.latest[topic].map(highlighted)
        case .lineup(let topics):
            let shown = topics.compactMap { node.latest[$0] }.sorted { $0.serial > $1.serial }
            guard !shown.isEmpty else { return nil }
            let spotlight = shown.firstIndex { p in alert.map { $0.title.hasPrefix(p.topicID.rawValue + "/") } ?? false
            }
            let entries = shown.map {
                "{\"id\":\"\($0.topicID)\",\"kind\":\"football\",\"state\":\(String(decoding: highlighted($0), as: UTF8.self))}"
            }
            let highlight = alert == nil ? "period" : "homeScore"
            return Array(
                ("{\"highlight\":\"\(highlight)\",\"more\":0,\"spotlight\":\(spotlight ?? 0),\"topics\":["
                    + entries.joined(separator: ",") + "]}").utf8)
        }
    }

    /// What must hold once the feed is quiet and the network has answered everything.
    func globallyViolated() -> String? {
        for phone in phones where !phone.isGone {
            guard let served = phone.served else { return "activity \(phone.id.rawValue) left and was never ended (3)" }
            let node = nodes[phone.node]
            let shown = served.topics.compactMap { node.latest[$0] }
            if !shown.isEmpty, phone.accepted == nil { return "activity \(phone.id.rawValue) never got a state (1)" }
            if let accepted = phone.accepted, let violation = stale(accepted, beside: shown) {
                return "activity \(phone.id.rawValue) shows \(violation) (1)"
            }
            if let lost = phone.missed.last { return "activity \(phone.id.rawValue) never got alert \(lost.cause) (4)" }
        }
        for phone in phones where phone.isDead && phone.isGone && phone.deathReports != 1 {
            return "the death of activity \(phone.id.rawValue) was reported \(phone.deathReports) times"
        }
        for node in nodes {
            for serial in node.published where node.completed[serial] != 1 {
                return "publication \(serial) was reported complete \(node.completed[serial] ?? 0) times"
            }
        }
        return nil
    }

    /// The accepted state must hold the newest version of every topic shown; which key is highlighted is the alert's choice.
    private func stale(_ accepted: [UInt8], beside shown: [Publication]) -> String? {
        let text = String(decoding: accepted, as: UTF8.self)
        for publication in shown {
            let expected = "\"match\":\"\(publication.topicID)\",\"version\":\(publication.version)}"
            if !text.contains(expected) { return "\(text), without \(expected)" }
        }
        return nil
    }
}
