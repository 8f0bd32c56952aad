import FanfareFanOut
import FanfareModel

/// Operators' orders for the people of one app, by its bundle id and environment. Decisions are the same for all apps, so these orders apply
/// between the decisions and the app's shards, with the same meaning as for a topic. Confined to the core's thread.
package struct AppOrders {
    package private(set) var isMuted = false
    private(set) var isPaused = false
    /// Newest version of each topic that was held back while paused.
    private var withheld: [TopicID: Publication] = [:]

    /// - Returns: the publication as the app's people get it now; `nil` if they get nothing.
    mutating func admit(_ publication: Publication) -> Publication? {
        guard isPaused else { return isMuted ? publication.silent : publication }
        withheld[publication.topicID] = publication.event == .update ? publication : nil
        guard publication.event == .end else { return nil }
        return isMuted ? publication.silent : publication
    }

    /// Returns whether the app's people do not get the publication's alert.
    func withholdsAlert(of publication: Publication) -> Bool { isMuted || isPaused && publication.event == .update }

    /// Takes over orders from a checkpoint.
    mutating func restore(isMuted: Bool, isPaused: Bool) { (self.isMuted, self.isPaused) = (isMuted, isPaused) }

    mutating func forget(_ topic: TopicID) { withheld[topic] = nil }

    /// - Returns: commands for the app's shards.
    mutating func apply(_ operation: FeedEvent.Operation) -> [ShardCommand] {
        switch operation {
        case .mute: isMuted = true
        case .unmute: isMuted = false
        case .pause: isPaused = true
        case .resume:
            isPaused = false
            defer { withheld.removeAll() }
            return withheld.values.sorted { $0.serial < $1.serial }.map { .publish($0.silent) }
        case .republish: return isPaused ? [] : [.republish]
        case .reset: break  // concerns a feed, and feeds know no apps
        }
        return []
    }
}

/// Operators' orders for apps that the engine does not have, but an earlier or a later one on the same store has.
struct AbsentApps {
    private var orders: [AppID: AppOrders] = [:]

    /// Far more apps than exist; an operator may mistype a name any number of times.
    private static let appsMax = 1000

    mutating func apply(_ operation: FeedEvent.Operation, for app: AppID) {
        var known = orders[app] ?? AppOrders()
        _ = known.apply(operation)
        set(known, for: app)
    }

    mutating func restore(_ app: AppID, isMuted: Bool, isPaused: Bool) {
        var known = AppOrders()
        known.restore(isMuted: isMuted, isPaused: isPaused)
        set(known, for: app)
    }

    private mutating func set(_ known: AppOrders, for app: AppID) {
        guard known.isMuted || known.isPaused else { return orders[app] = nil }
        if orders.count < AbsentApps.appsMax || orders[app] != nil { orders[app] = known }
    }

    /// Apps whose people do not get the publication's alert.
    func withholding(_ publication: Publication) -> [AppID] {
        orders.filter { $0.value.withholdsAlert(of: publication) }.map(\.key)
    }

    /// The apps and their orders, by name.
    func sorted() -> [(app: AppID, orders: AppOrders)] {
        orders.map { (app: $0, orders: $1) }.sorted {
            ($0.app.bundleID, $0.app.environment.rawValue) < ($1.app.bundleID, $1.app.environment.rawValue)
        }
    }
}
