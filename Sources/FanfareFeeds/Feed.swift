@_exported public import FanfareModel
import FanfareQueues

/// One feed, merged from several files and folders.
///
/// ```swift
/// for (now, item) in try Feed(paths: ["matches/"]) { print(now, item) }
/// ```
///
/// Items are ordered by (`now`, path, position in the file), where `now` comes from a `FeedTimeline` per file. Each file keeps its
/// own order, so late items stay late. Equal files give an equal feed, whatever the order of their paths. GTFS-Realtime polls of
/// one folder are one source, because a trip's absence shows only between polls.
///
/// A feed streams files of the line format, and keeps each open until its last item has been taken, so it needs a descriptor for each of them
/// (`ulimit -n`). A feed decodes files that hold one document when it is opened, and keeps each in memory, decoded, until its last item has been
/// taken.
///
/// A feed is read once, in one thread at a time: a second loop continues where the first one stopped. A file that can no longer be read gives a
/// rejection, and the other files continue. Tasks read a `FeedSequence` instead.
public final class Feed: Sequence, IteratorProtocol {
    /// A piece of the feed, and the log time at which it arrives when the feed is replayed.
    public typealias Element = (now: FeedTime, item: FeedItem)

    /// Files in the given folders that are not feeds, in path order, without sidecars (match metadata, timetables).
    public let skippedFiles: [String]

    // Unchecked, because each item reads and writes them: confined to the feed's thread, without re-entrant calls.

    @safe @exclusivity(unchecked) private var sources: [Source] = []
    /// Heads of the sources that have an item; the first is that of the next one.
    @safe @exclusivity(unchecked) private var heads = BinaryHeap<SourceHead>()
    @safe @exclusivity(unchecked) private var now = FeedTime(milliseconds: 0)

    /// Time of a source's next item, and the source's position in `sources`, which are in path order.
    private struct SourceHead: Comparable {
        let now: FeedTime
        let position: Int

        static func < (a: SourceHead, b: SourceHead) -> Bool { (a.now, a.position) < (b.now, b.position) }
    }

    private struct Source {
        /// `nil` once the source has ended, which closes its file and frees its document.
        private var decoder: (any FeedDecoder)?
        private var timeline = FeedTimeline()
        /// Items that were read ahead to find the time of the next event.
        private var ahead: [FeedItem] = []
        var item: FeedItem?

        init(_ decoder: any FeedDecoder) { self.decoder = decoder }

        var now: FeedTime { timeline.now }

        @inline(__always)
        mutating func advance() {
            item = ahead.isEmpty ? decoder?.next() : ahead.removeFirst()
            guard let at = item?.at else { return }
            let next = timeline.doubts(at) ? nextTime() : nil
            timeline.pass(at, before: next)
        }

        /// Returns the time of the next event; a few items that are no events may precede it.
        private mutating func nextTime() -> FeedTime? {
            for item in ahead { if let at = item.at { return at } }
            while ahead.count < Source.aheadMax, let item = decoder?.next() {
                ahead.append(item)
                if let at = item.at { return at }
            }
            return nil
        }

        /// Ends the source, which has no item left.
        mutating func close() { decoder = nil }

        private static let aheadMax = 16
    }

    /// Checks that a feed can be read twice, which a pipe cannot.
    ///
    /// - Throws: `FeedError` for a path that is neither a file nor a folder.
    package static func requireRereadable(_ paths: [String]) throws(FeedError) {
        for path in paths where ByteFile.isReadOnce(path) {
            throw FeedError(
                path: path,
                reason: "is read twice, and a pipe can be read only once: write it to a file first (`fanfare replay -` "
                    + "takes what comes, live)")
        }
    }

    /// Opens every file and reads up to its first event; a file that holds one document is read completely. The search includes all folders below the
    /// given ones.
    ///
    /// - Parameters:
    ///   - paths: files and folders. A pipe is read as lines of the native format.
    ///   - options: format, kick-off and sizes.
    /// - Throws: `FeedError` for a path that is not a feed, a folder without a feed, a file that cannot be opened, or a kick-off outside 1970 to
    ///   2100.
    @available(*, noasync, message: "await FeedSequence(paths:options:) instead: this one blocks a thread of the pool")
    public init(paths: [String], options: FeedOptions = FeedOptions()) throws(FeedError) {
        if let kickoff = options.kickoff, !kickoff.isPlausible {
            throw FeedError(
                path: paths.joined(separator: ", "),
                reason: "the kick-off: \(FeedTime.implausible(kickoff.description))")
        }
        let found = try FeedFiles.find(in: paths, options: options)
        skippedFiles = found.skipped
        for decoder in try FeedFiles.decoders(for: found.files, options: options) {
            var source = Source(decoder)
            source.advance()
            guard source.item != nil else { continue }
            heads.insert(SourceHead(now: source.now, position: sources.count))
            sources.append(source)
        }
    }

    /// Returns the feed itself, so that each loop continues where the one before stopped: a pipe, for instance, cannot be read twice.
    public func makeIterator() -> Feed { self }

    /// Returns the next item in log order with the log time of its arrival, a running maximum that never goes back. A rejection has the log time of
    /// its position. The call blocks while it reads, and takes time logarithmic in the number of files.
    @available(*, noasync, message: "loop over a FeedSequence instead: this call blocks a thread of the pool")
    public func next() -> (now: FeedTime, item: FeedItem)? {
        guard let first = heads.first?.position else { return nil }
        guard heads.count > 1 else { return nextOfLast(first) }
        guard let item = sources[first].item.take() else { return nil }
        now = Swift.max(now, sources[first].now)
        sources[first].advance()
        if sources[first].item == nil {
            _ = heads.removeFirst()
            sources[first].close()
        } else {
            heads.replaceFirst(with: SourceHead(now: sources[first].now, position: first))
        }
        return (now, item)
    }

    /// Returns the next item of the only source left, without reading ahead: there is nothing to compare it with.
    @inline(__always)
    private func nextOfLast(_ position: Int) -> (now: FeedTime, item: FeedItem)? {
        if sources[position].item == nil { sources[position].advance() }
        guard let item = sources[position].item.take() else {
            _ = heads.removeFirst()
            sources[position].close()
            return nil
        }
        now = Swift.max(now, sources[position].now)
        return (now, item)
    }
}
