import FanfareFanOut
import FanfareModel

/// Links to all shards, in the order of their apps; routes commands to them. Confined to the core's thread.
struct ShardLinks {
    private let links: [ShardLink]
    let perApp: Int
    /// Waits until the stopping shards have ended, and hands over their remaining feedback.
    let join: ((ShardFeedback, _ shard: Int) -> Void) -> Void

    /// - Parameters:
    ///   - links: links to the shards, grouped by app, equally many for each.
    ///   - join: waits until the stopping shards have ended, and hands over their remaining feedback.
    init(
        _ links: [ShardLink], perApp: Int,
        join: @escaping ((ShardFeedback, _ shard: Int) -> Void) -> Void = { _ in }
    ) {
        self.links = links
        self.perApp = perApp
        self.join = join
        for link in links { link.unsentMax = appCount > 1 ? ShardLink.unsentBesideOthersMax : 0 }
    }

    var count: Int { links.count }
    var indices: Range<Int> { links.indices }
    var appCount: Int { links.count / perApp }
    subscript(index: Int) -> ShardLink { links[index] }

    /// Is `true` while any link waits for room in its ring; commands to all shards would wait with it.
    var isCongested: Bool { links.contains { $0.isCongested } }

    /// Commands that the shards have not taken yet.
    var depth: Int { links.reduce(0) { $0 + $1.depth } }

    func send(_ command: ShardCommand) { for link in links { link.send(command) } }

    func send(_ command: ShardCommand, toApp app: Int) {
        for link in links[app * perApp..<(app + 1) * perApp] { link.send(command) }
    }

    /// Sends a command to the subscriber's shard. Commands for one subscriber of an app go to one shard, in order.
    func send(_ command: ShardCommand, forSubscriber key: UInt64, app: Int) {
        links[app * perApp + ShardPlace.index(ofSubscriber: key, of: perApp)].send(command)
    }

    /// Makes the shards take the commands sent to them.
    func ring() { for link in links { link.ring() } }

    func stop(within timeout: Duration?) { for link in links { link.stop(within: timeout) } }
}

/// Position of a shard, which determines its subscribers.
package struct ShardPlace: Sendable {
    /// Index of the app. Each app has its own shards, so one app never waits for another, and dead tokens of one say nothing about another.
    package let app: Int
    /// Index among the shards of the app.
    package let index: Int
    package let count: Int

    package func owns(subscriber key: UInt64) -> Bool { ShardPlace.index(ofSubscriber: key, of: count) == index }

    /// Returns the index of a subscriber's shard. It uses the hash's high half and leaves the low bits to hash tables.
    static func index(ofSubscriber key: UInt64, of count: Int) -> Int { Int((key.mixed >> 32) % UInt64(count)) }
}
