import FanfareModel

/// What an engine publishes when it has read its log: what each topic shows, with the alerts that go on to those whom they have not reached.
struct Resumption {
    let publications: [Publication]
    private let alerts: [TopicID: [(entry: RecentAlerts.Entry, age: Duration)]]

    init(_ publications: [Publication], _ alerts: [(entry: RecentAlerts.Entry, age: Duration)]) {
        self.publications = publications
        self.alerts = Dictionary(grouping: alerts) { $0.entry.topic }
    }

    /// Returns the publications for an app, in their order: first those without alerts, then the others as their alerts come to lineups were
    /// granted. Whom one of them does not concern, those before it do not, either, and a lineup counts on that.
    ///
    /// - Parameter app: `nil` if nothing is sent to APNs.
    func publications(forApp app: AppID?) -> [(publication: Publication, alerts: [UnfinishedAlert])] {
        let all = publications.map { (publication: $0, alerts: alerts(of: $0.topicID, forApp: app)) }
        // An alert that is withheld from the app says nothing of the order in which the app's come.
        let alerting = all.compactMap { each in
            each.alerts.map(\.alert).weightiest.map { (grantedAt: $0.grantedAt, each: each) }
        }
        return all.filter(\.alerts.isEmpty) + alerting.sorted { $0.grantedAt < $1.grantedAt }.map(\.each)
    }

    private func alerts(of topic: TopicID, forApp app: AppID?) -> [UnfinishedAlert] {
        let all = alerts[topic] ?? []
        return all.filter { alert in app.map { !alert.entry.withheldFrom.contains($0) } ?? true }
            .map { UnfinishedAlert($0.entry.alert, age: $0.age) }
    }
}
