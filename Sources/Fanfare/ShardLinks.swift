import FanfareFanOut
import FanfareModel

/// All shards as the core holds them, in the order of their apps: who is told of a command. Confined to the core's thread.
struct ShardLinks {
    private let links: [ShardLink]
    let perApp: Int

    /// - Parameter links: of one app after the other, as many for each.
    init(_ links: [ShardLink], perApp: Int) {
        self.links = links
        self.perApp = perApp
        for link in links { link.waitingMax = appCount > 1 ? ShardLink.waitingBesideOthersMax : 0 }
    }

    var count: Int { links.count }
    var indices: Range<Int> { links.indices }
    var appCount: Int { links.count / perApp }
    subscript(index: Int) -> ShardLink { links[index] }

    /// Some link waits for room in its ring, and what is said to all of them would wait with it.
    var isCongested: Bool { links.contains { $0.isCongested } }

    func send(_ command: ShardCommand) { for link in links { link.send(command) } }

    func send(_ command: ShardCommand, toApp app: Int) {
        for link in links[app * perApp..<(app + 1) * perApp] { link.send(command) }
    }

    /// All commands for one subscriber of an app go to one shard, in order.
    func send(_ command: ShardCommand, forSubscriber key: UInt64, app: Int) {
        links[app * perApp + ShardPlace.index(ofSubscriber: key, of: perApp)].send(command)
    }

    /// Has the shards take what was sent.
    func ring() { for link in links { link.ring() } }

    func stop(within timeout: Duration?) { for link in links { link.stop(within: timeout) } }
}

/// Which subscribers are a shard's.
package struct ShardPlace: Sendable {
    /// Each app has shards of its own: nothing of one waits for another, and dead tokens of one say nothing about another.
    package let app: Int
    /// Among the shards of its app.
    package let index: Int
    package let count: Int

    package func owns(subscriber key: UInt64) -> Bool { ShardPlace.index(ofSubscriber: key, of: count) == index }

    /// A slice of the subscribers by hash; the low bits are left to whoever hashes into tables.
    static func index(ofSubscriber key: UInt64, of count: Int) -> Int { Int((key.mixed >> 32) % UInt64(count)) }
}
