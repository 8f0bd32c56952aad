import FanfareCore
import FanfareFeeds
import FanfareLoop

/// Where a replay's items come from. Confined to the replay's loop.
protocol ReplaySource {
    /// The next item and the log time it arrives at, without taking it; `nil` when none is there (yet).
    mutating func peek() -> (now: FeedTime, item: FeedItem)?
    mutating func advance()
    var isAtEnd: Bool { get }
    /// Items are there after there were none.
    var onItems: (() -> Void)? { get set }
    func start()
    func close()
    /// How much longer log time needs to get this far beyond the last item or tick.
    func sinceLastItem(now: Int64, toReach distance: Duration) -> Duration
    mutating func ticked(by distance: Duration)
}

/// Files: always there.
struct RecordedFeed: ReplaySource {
    private var feed: Feed
    private var next: (now: FeedTime, item: FeedItem)?
    var onItems: (() -> Void)?

    init(_ feed: Feed) {
        self.feed = feed
        next = self.feed.next()
    }

    func peek() -> (now: FeedTime, item: FeedItem)? { next }
    mutating func advance() { next = feed.next() }
    var isAtEnd: Bool { next == nil }
    func start() {}
    func close() {}
    func sinceLastItem(now: Int64, toReach distance: Duration) -> Duration { .zero }
    mutating func ticked(by distance: Duration) {}
}

/// Standard input, line by line as it is written.
final class LiveInput: ReplaySource {
    private let bytes: ByteSource
    private var decoder: NativeLineDecoder
    private var items: [FeedItem] = []
    private var position = 0
    private var now = FeedTime(milliseconds: 0)
    private var hasEnded = false
    /// Monotonic nanoseconds of the last item or tick: log time's place on the wall.
    private var lastAt: Int64 = 0
    var onItems: (() -> Void)?

    init(loop: Loop, lineBytesMax: Int) throws {
        bytes = try ByteSource.standardInput(loop: loop)
        decoder = NativeLineDecoder(name: "-", lineBytesMax: lineBytesMax)
    }

    func start() {
        bytes.onBytes = { [unowned self] chunk in
            items.removeFirst(position)
            position = 0
            decoder.feed(chunk, into: &items)
            arrived()
        }
        bytes.onEnd = { [unowned self] error in
            hasEnded = true
            decoder.finish(into: &items)
            if let error { items.append(.rejected(FeedRejection(place: "-", reason: "\(error)"))) }
            arrived()
        }
        bytes.resume()
    }

    private func arrived() {
        // Lines are taken in as fast as they are decided: no more of them is read before these are gone.
        bytes.pause()
        onItems?()
    }

    func peek() -> (now: FeedTime, item: FeedItem)? {
        guard position < items.count else {
            if !hasEnded { bytes.resume() }
            return nil
        }
        if case .event(let event) = items[position] { now = max(now, event.at) }
        return (now, items[position])
    }

    func advance() {
        position += 1
        lastAt = Clock.monotonicNanoseconds()
    }

    var isAtEnd: Bool { hasEnded && position == items.count }

    func close() { bytes.close() }

    func sinceLastItem(now: Int64, toReach distance: Duration) -> Duration {
        distance - .nanoseconds(now - lastAt)
    }

    func ticked(by distance: Duration) {
        lastAt += distance.milliseconds * 1_000_000
        // Log time has gone on without an event; it never goes back.
        now = now + distance
    }
}

/// One pass over the feed before it is replayed: who plays, and how long it is.
struct FeedScan {
    private(set) var topics: [TopicID] = []
    private(set) var events = 0
    let skippedFiles: [String]

    init(_ options: ReplayOptions) throws(FeedError) {
        var feed = try Feed(paths: options.paths, options: options.feed)
        skippedFiles = feed.skippedFiles
        var seen: Set<TopicID> = []
        while let (now, item) = feed.next() {
            if let until = options.until, now > until { break }
            events += 1
            if case .event(let event) = item, event.topic != .every, seen.insert(event.topic).inserted {
                topics.append(event.topic)
            }
        }
    }
}
