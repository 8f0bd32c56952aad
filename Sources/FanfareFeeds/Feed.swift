public import FanfareCore

/// One feed out of several files and folders.
///
///     var feed = try Feed(paths: ["matches/"])
///     while let (now, item) = feed.next() { … }
///
/// The files are merged by (`now`, path, position in the file), where `now` is the running maximum of a file's `at`: a file
/// keeps its own order, so what was delivered late stays late. The same files give the same feed, whatever the order in which
/// they were named. Polls of GTFS-Realtime that stand in one folder are read as one source, because a trip's absence shows
/// only between polls.
///
/// Files of the line format are streamed; a single-document file is held, decoded, until its last event has been taken.
public struct Feed {
    /// Files in the given folders that are no feed, in path order. Sidecars (match metadata, timetables) are not among them.
    public let skippedFiles: [String]

    private var sources: [Source] = []
    /// A binary heap of positions in `sources`: the first is the one whose item is next.
    private var queue: [Int] = []
    private var now = FeedTime(milliseconds: 0)

    private struct Source {
        var decoder: any FeedDecoder
        var now = FeedTime(milliseconds: 0)
        var item: FeedItem?

        mutating func advance() {
            item = decoder.next()
            if let at = item?.at { now = max(now, at) }
        }
    }

    /// Opens every file and reads up to each one's first event.
    public init(paths: [String], options: FeedOptions = FeedOptions()) throws(FeedError) {
        let found = try FeedFiles.find(in: paths, options: options)
        skippedFiles = found.skipped
        for decoder in try FeedFiles.decoders(for: found.files, options: options) {
            var source = Source(decoder: decoder)
            source.advance()
            guard source.item != nil else { continue }
            sources.append(source)
            queue.append(sources.count - 1)
        }
        for position in queue.indices.reversed() { sink(position) }
    }

    /// The next item in log order, and the log time it arrives at: a running maximum, never going back. A rejection takes the
    /// log time that it stands at.
    public mutating func next() -> (now: FeedTime, item: FeedItem)? {
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
        guard let item = sources[position].item.take() ?? sources[position].decoder.next() else {
            queue.removeAll()
            return nil
        }
        if let at = item.at { now = max(now, at) }
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
