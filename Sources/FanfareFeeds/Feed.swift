package import FanfareModel

/// One feed out of several files and folders.
///
///     var feed = try Feed(paths: ["matches/"])
///     while let (now, item) = feed.next() { … }
///
/// The files are merged by (`now`, path, position in the file), where `now` is a file's own `FeedTimeline`: a file
/// keeps its own order, so what was delivered late stays late. The same files give the same feed, whatever the order in which
/// they were named. Polls of GTFS-Realtime that stand in one folder are read as one source, because a trip's absence shows
/// only between polls.
///
/// Files of the line format are streamed; a single-document file is held, decoded, until its last event has been taken.
package struct Feed {
    /// Files in the given folders that are no feed, in path order. Sidecars (match metadata, timetables) are not among them.
    package let skippedFiles: [String]

    private var sources: [Source] = []
    /// A binary heap of positions in `sources`: the first is the one whose item is next.
    private var queue: [Int] = []
    private var now = FeedTime(milliseconds: 0)

    private struct Source {
        private var decoder: any FeedDecoder
        private var timeline = FeedTimeline()
        /// Read ahead, because the time of what comes next was asked for.
        private var ahead: [FeedItem] = []
        var item: FeedItem?

        init(_ decoder: any FeedDecoder) { self.decoder = decoder }

        var now: FeedTime { timeline.now }

        @inline(__always)
        mutating func advance() {
            item = ahead.isEmpty ? decoder.next() : ahead.removeFirst()
            guard let at = item?.at else { return }
            let next = timeline.doubts(at) ? nextTime() : nil
            timeline.pass(at, before: next)
        }

        /// Of the next event. A few lines that are none may stand before it.
        private mutating func nextTime() -> FeedTime? {
            for item in ahead { if let at = item.at { return at } }
            while ahead.count < Source.aheadMax, let item = decoder.next() {
                ahead.append(item)
                if let at = item.at { return at }
            }
            return nil
        }

        private static let aheadMax = 16
    }

    /// For who will read the feed twice: what comes through a pipe can be read only once.
    ///
    /// - Throws: where a path leads to something that is neither file nor folder.
    package static func requireRereadable(_ paths: [String]) throws(FeedError) {
        for path in paths where ByteFile.isReadOnce(path) {
            throw FeedError(
                path: path,
                reason: "is read twice, and a pipe can be read only once: write it to a file first (`fanfare replay -` "
                    + "takes what comes, live)")
        }
    }

    /// Opens every file and reads up to each one's first event.
    package init(paths: [String], options: FeedOptions = FeedOptions()) throws(FeedError) {
        let found = try FeedFiles.find(in: paths, options: options)
        skippedFiles = found.skipped
        for decoder in try FeedFiles.decoders(for: found.files, options: options) {
            var source = Source(decoder)
            source.advance()
            guard source.item != nil else { continue }
            sources.append(source)
            queue.append(sources.count - 1)
        }
        for position in queue.indices.reversed() { sink(position) }
    }

    /// The next item in log order, and the log time it arrives at: a running maximum, never going back. A rejection takes the
    /// log time that it stands at.
    package mutating func next() -> (now: FeedTime, item: FeedItem)? {
        guard let first = queue.first else { return nil }
        guard queue.count > 1 else { return nextOfLast(first) }
        guard let item = sources[first].item.take() else { return nil }
        now = max(now, sources[first].now)
        sources[first].advance()
        if sources[first].item == nil {
            queue[0] = queue[queue.count - 1]
            queue.removeLast()
        }
        sink(0)
        return (now, item)
    }

    /// With nobody to be compared with, it is not read ahead.
    @inline(__always)
    private mutating func nextOfLast(_ position: Int) -> (now: FeedTime, item: FeedItem)? {
        if sources[position].item == nil { sources[position].advance() }
        guard let item = sources[position].item.take() else {
            queue.removeAll()
            return nil
        }
        now = max(now, sources[position].now)
        return (now, item)
    }

    /// Sources stand in path order, so the position breaks ties.
    private func precedes(_ a: Int, _ b: Int) -> Bool { (sources[a].now, a) < (sources[b].now, b) }

    private mutating func sink(_ start: Int) {
        var position = start
        while true {
            var least = position
            for child in [2 * position + 1, 2 * position + 2] where child < queue.count {
                if precedes(queue[child], queue[least]) { least = child }
            }
            if least == position { return }
            queue.swapAt(position, least)
            position = least
        }
    }
}
