import Fanfare
import FanfareFeeds
import FanfareLoop
import FanfareModel

/// Source of a replay's items. Confined to the replay's loop.
protocol ReplaySource {
    /// Returns the next item and its log time without taking it; `nil` if no item has arrived yet, or none is left.
    mutating func peek() -> (now: FeedTime, item: FeedItem)?
    mutating func advance()
    var isAtEnd: Bool { get }
    /// Called when items arrive after there were none.
    var onItems: () -> Void { get set }
    func start()
    /// Ends a live feed. Complete lines that have arrived can still be taken; a partial line is dropped.
    mutating func stop()
    func close()
    /// Current log time of a live feed; `nil` for a recorded feed, whose log time comes with its items.
    mutating func clockTime() -> FeedTime?
    /// Wall clock at the last reading of log time, which may be ahead of it; `nil` for a recorded feed.
    var wall: FeedTime? { get }
    /// Makes a live feed's log time go on from that of an earlier run.
    mutating func continueLogTime(from latest: FeedTime)
}

/// Recorded files, whose items are always available.
struct RecordedFeed: ReplaySource {
    private let feed: Feed
    private var next: (now: FeedTime, item: FeedItem)?
    var onItems: () -> Void = {}

    init(_ feed: Feed) {
        self.feed = feed
        next = feed.next()
    }

    func peek() -> (now: FeedTime, item: FeedItem)? { next }
    mutating func advance() { next = feed.next() }
    var isAtEnd: Bool { next == nil }
    func start() {}
    func stop() {}
    func close() {}
    func clockTime() -> FeedTime? { nil }
    var wall: FeedTime? { nil }
    func continueLogTime(from latest: FeedTime) {}
}

/// Standard input, read line by line as it is written.
final class LiveInput: ReplaySource {
    private let bytes: ByteSource
    private var lines: LiveLines
    var onItems: () -> Void = {}

    /// - Parameter descriptor: closed by this object, unless it is 0, 1 or 2.
    init(loop: Loop, descriptor: CInt, clock: ClockSource, lineSizeMax: ByteCount) throws {
        bytes = try ByteSource(loop: loop, descriptor: descriptor, name: "standard input")
        lines = LiveLines(clock: clock, lineSizeMax: lineSizeMax)
    }

    func start() {
        unsafe bytes.onBytes = { [unowned self] chunk in
            unsafe lines.take(chunk)
            arrived()
        }
        bytes.onEnd = { [unowned self] error in
            lines.end(error.map { "\($0)" })
            arrived()
        }
        bytes.resume()
    }

    private func arrived() {
        // Lines are read only as fast as they are decided: reading resumes when these are gone.
        bytes.pause()
        onItems()
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
    func continueLogTime(from latest: FeedTime) { lines.continueLogTime(from: latest) }
}

/// Lines of a live feed. An item's log time is the time at which it is taken, by the engine's clock (`LogClock`): neither the times in the
/// lines nor the division of their bytes affects it. Has neither input nor loop.
struct LiveLines {
    private var decoder: NativeLineDecoder
    private var items: [FeedItem] = []
    private var position = 0
    private(set) var hasEnded = false
    private let clock: ThreadClock
    private var log: LogClock
    /// Wall clock as estimated at the last reading of log time.
    private(set) var wall: FeedTime?

    init(clock: ClockSource, lineSizeMax: ByteCount = FeedOptions.lineSizeMaxDefault) {
        decoder = NativeLineDecoder(name: "-", lineSizeMax: lineSizeMax)
        self.clock = ThreadClock(clock)
        log = LogClock(at: self.clock.now())
    }

    /// Makes log time go on from that of an earlier run.
    mutating func continueLogTime(from latest: FeedTime) {
        // A store without events has no log time yet.
        if latest > FeedTime.plausible.lowerBound { log = LogClock(at: clock.now(), continuing: latest) }
    }

    mutating func take(_ chunk: UnsafeRawBufferPointer) {
        items.removeFirst(position)
        position = 0
        unsafe decoder.decode(chunk, into: &items)
    }

    /// Ends the lines: no more bytes will come.
    ///
    /// - Parameter failure: reason why reading failed; `nil` at the end of the file.
    mutating func end(_ failure: String?) {
        hasEnded = true
        decoder.finish(into: &items)
        if let failure { items.append(.rejected(FeedRejection(location: "-", reason: failure))) }
    }

    /// Ends the lines on request.
    mutating func stop() { hasEnded = true }

    mutating func now() -> FeedTime {
        let moment = clock.now()
        wall = moment.wall
        return log.advance(to: moment)
    }

    mutating func peek() -> (now: FeedTime, item: FeedItem)? {
        position < items.count ? (now(), items[position]) : nil
    }

    mutating func advance() { position += 1 }
    var isAtEnd: Bool { hasEnded && position == items.count }
}
