import Fanfare
import FanfareFeeds
import FanfareLoop
import FanfareModel

/// Where a replay's items come from. Confined to the replay's loop.
protocol ReplaySource {
    /// The next item and the log time it arrives at, without taking it; `nil` when none is there (yet).
    mutating func peek() -> (now: FeedTime, item: FeedItem)?
    mutating func advance()
    var isAtEnd: Bool { get }
    /// Items are there after there were none.
    var onItems: (() -> Void)? { get set }
    func start()
    /// Nobody wants more of a live feed. What has come stays to be taken, but for a line of which only a part has.
    mutating func stop()
    func close()
    /// Log time where it goes on without items; `nil` where it only comes with them.
    mutating func clockTime() -> FeedTime?
    /// The wall clock when log time was last asked for, which may be ahead of it; `nil` where there is none.
    var wall: FeedTime? { get }
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
    func stop() {}
    func close() {}
    func clockTime() -> FeedTime? { nil }
    var wall: FeedTime? { nil }
}

/// Standard input, line by line as it is written.
final class LiveInput: ReplaySource {
    private let bytes: ByteSource
    private var lines: LiveLines
    var onItems: (() -> Void)?

    /// - Parameter descriptor: taken over, unless it is one of the standard three.
    init(loop: Loop, descriptor: CInt, clock: ClockSource, lineBytesMax: Int) throws {
        bytes = try ByteSource(loop: loop, descriptor: descriptor, name: "standard input")
        lines = LiveLines(clock: clock, lineBytesMax: lineBytesMax)
    }

    func start() {
        bytes.onBytes = { [unowned self] chunk in
            lines.take(chunk)
            arrived()
        }
        bytes.onEnd = { [unowned self] error in
            lines.end(error.map { "\($0)" })
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
        if let next = lines.peek() { return next }
        if !lines.hasEnded { bytes.resume() }
        return nil
    }

    func stop() {
        bytes.close()
        lines.stop()
    }

    func advance() { lines.advance() }
    var isAtEnd: Bool { lines.isAtEnd }
    func close() { bytes.close() }
    func clockTime() -> FeedTime? { lines.now() }
    var wall: FeedTime? { lines.wall }
}

/// Lines as somebody writes them. Their log time is when they are looked at, by the clock that an engine has (`LogClock`): what they
/// say themselves and how their bytes are cut moves nothing. Without input or loop.
struct LiveLines {
    private var decoder: NativeLineDecoder
    private var items: [FeedItem] = []
    private var position = 0
    private(set) var hasEnded = false
    private let clock: ThreadClock
    private var log: LogClock
    /// As it is believed, when log time was last asked for.
    private(set) var wall: FeedTime?

    init(clock: ClockSource, lineBytesMax: Int = FeedOptions.lineBytesMaxDefault) {
        decoder = NativeLineDecoder(name: "-", lineBytesMax: lineBytesMax)
        self.clock = ThreadClock(clock)
        log = LogClock(at: self.clock.now())
    }

    mutating func take(_ chunk: UnsafeRawBufferPointer) {
        items.removeFirst(position)
        position = 0
        decoder.feed(chunk, into: &items)
    }

    /// No more will come.
    ///
    /// - Parameter failure: why nothing more could be read.
    mutating func end(_ failure: String?) {
        hasEnded = true
        decoder.finish(into: &items)
        if let failure { items.append(.rejected(FeedRejection(place: "-", reason: failure))) }
    }

    /// No more is wanted.
    mutating func stop() { hasEnded = true }

    mutating func now() -> FeedTime {
        let moment = clock.now()
        wall = FeedTime(milliseconds: moment.wallMilliseconds)
        return log.advance(to: moment)
    }

    mutating func peek() -> (now: FeedTime, item: FeedItem)? {
        position < items.count ? (now(), items[position]) : nil
    }

    mutating func advance() { position += 1 }
    var isAtEnd: Bool { hasEnded && position == items.count }
}
