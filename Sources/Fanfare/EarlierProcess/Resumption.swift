import FanfareModel

/// Publications of an engine that has read its log: each topic's state, with the alerts that go on to cards that they have not reached.
struct Resumption {
    let publications: [Publication]
    private let alerts: [TopicID: [(entry: RecentAlert, age: Duration)]]

    init(_ publications: [Publication], _ alerts: [(entry: RecentAlert, age: Duration)]) {
        self.publications = publications
        self.alerts = Dictionary(grouping: alerts) { $0.entry.topic }
    }

    /// Returns the publications with the alerts for an app that were not withheld from it.
    ///
    /// - Parameter app: `nil` if nothing is sent to APNs.
    func publications(forApp app: AppID?) -> [(publication: Publication, alerts: [UnfinishedAlert])] {
        publications.map { (publication: $0, alerts: alerts(of: $0.topicID, forApp: app)) }
    }

    private func alerts(of topic: TopicID, forApp app: AppID?) -> [UnfinishedAlert] {
        let all = alerts[topic] ?? []
        return all.filter { alert in app.map { !alert.entry.withheldFrom.contains($0) } ?? true }
            .map { UnfinishedAlert($0.entry.alert, age: $0.age) }
    }
}
