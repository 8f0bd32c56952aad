import FanfareFanOut
import FanfareModel

/// Apps in the order of their shards, with operators' orders for each, and for apps that an earlier or a later engine on the same store has.
package struct AppTable {
    /// Empty if nothing is sent to APNs: one app without an id has all shards then.
    let ids: [AppID]
    package private(set) var orders: [AppOrders]
    private var absent = AbsentApps()

    /// - Parameter count: number of apps that have shards.
    init(_ ids: [AppID], count: Int) {
        self.ids = ids
        orders = Array(repeating: AppOrders(), count: count)
    }

    var indices: Range<Int> { orders.indices }
    func id(of app: Int) -> AppID? { ids.isEmpty ? nil : ids[app] }

    /// Returns whether an operator has muted or paused the app.
    func isQuieted(_ app: Int) -> Bool { orders[app].isMuted || orders[app].isPaused }

    /// - Returns: the publication as the app's people get it now; `nil` if they get nothing.
    mutating func admit(_ publication: Publication, app: Int) -> Publication? { orders[app].admit(publication) }

    /// Apps whose people do not get the publication's alert.
    func withholding(_ publication: Publication) -> [AppID] {
        zip(ids, orders).filter { $0.1.withholdsAlert(of: publication) }.map(\.0) + absent.withholding(publication)
    }

    /// Takes an operator's order.
    ///
    /// - Returns: the app's index and the commands for its shards; `nil` if this engine does not have the app.
    mutating func apply(_ operation: FeedEvent.Operation, for id: AppID) -> (app: Int, commands: [ShardCommand])? {
        guard let app = ids.firstIndex(of: id) else {
            absent.apply(operation, for: id)
            return nil
        }
        return (app, orders[app].apply(operation))
    }

    mutating func forget(_ topic: TopicID) { for app in orders.indices { orders[app].forget(topic) } }
}

// MARK: - Serial form

extension SerialWriter {
    mutating func write(_ table: AppTable) { write(all: table.all) { $0.write(app: $1.app, $1.orders) } }

    private mutating func write(app: AppID, _ orders: AppOrders) {
        write(app)
        write(orders.isMuted)
        write(orders.isPaused)
    }
}

extension AppTable {
    fileprivate var all: [(app: AppID, orders: AppOrders)] {
        zip(ids, orders).map { (app: $0, orders: $1) } + absent.sorted()
    }

    /// Takes the orders back that a `SerialWriter` has written.
    mutating func restore(_ reader: inout SerialReader) throws(SerialError) {
        for _ in 0..<(try reader.count()) {
            let app = try reader.app()
            let (isMuted, isPaused) = (try reader.flag("mute"), try reader.flag("pause"))
            if let index = ids.firstIndex(of: app) {
                orders[index].restore(isMuted: isMuted, isPaused: isPaused)
            } else {
                absent.restore(app, isMuted: isMuted, isPaused: isPaused)
            }
        }
    }
}
