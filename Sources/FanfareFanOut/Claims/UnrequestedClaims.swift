import FanfareModel

/// Claims that were made since the last request.
struct UnrequestedClaims {
    private var claims: [AlertClaim] = []
    /// Claims of lineups of one member, which come one by one and are gathered by topic.
    private var ofLineups: [(alerts: FreshAlerts, activities: [ActivityMark])] = []
    private var places: [TopicID: Int] = [:]
    private var starts: [StartMark] = []
    /// Number of activities that claims of alerts name.
    private(set) var named = 0

    var isEmpty: Bool { claims.isEmpty && ofLineups.isEmpty && starts.isEmpty }

    mutating func add(_ start: StartMark) { starts.append(start) }

    /// - Parameter activities: empty for all that follow the topic.
    mutating func add(_ alerts: FreshAlerts, for activities: [ActivityMark]) {
        named += activities.count
        claims.append(AlertClaim(alerts, for: activities))
        for other in alerts.additional { claims.append(AlertClaim(other, for: activities)) }
    }

    mutating func add(_ alerts: FreshAlerts, forLineupOf activity: ActivityMark) {
        named += 1
        gather(alerts, activity)
        for other in alerts.additional { gather(other, activity) }
    }

    private mutating func gather(_ alerts: FreshAlerts, _ activity: ActivityMark) {
        if let place = places[alerts.topic] {
            ofLineups[place].alerts.merge(alerts)
            ofLineups[place].activities.append(activity)
        } else {
            places[alerts.topic] = ofLineups.count
            ofLineups.append((alerts, [activity]))
        }
    }

    /// Describes claims that are not found by their topics; `nil` if there are none.
    func violation() -> String? {
        guard places.count == ofLineups.count,
            ofLineups.indices.allSatisfy({ places[ofLineups[$0].alerts.topic] == $0 })
        else { return "claims of lineups for \(ofLineups.count) topics are found by \(places.count)" }
        return nil
    }

    /// Removes all and returns them as the request with this ticket.
    mutating func takeAll(ticket: UInt64) -> ClaimRequest {
        defer { self = UnrequestedClaims() }
        return ClaimRequest(
            ticket: ticket, claims: claims + ofLineups.map { AlertClaim($0.alerts, for: $0.activities) },
            starts: starts)
    }
}

extension AlertClaim {
    fileprivate init(_ alerts: FreshAlerts, for activities: [ActivityMark]) {
        self.init(topic: alerts.topic, through: alerts.through, expires: alerts.expires, activities: activities)
    }
}
