import Dispatch
public import FanfareModel

/// One feed, merged from several files and folders, for tasks. A dispatch queue of the sequence reads it as a `Feed`, so that no thread of the tasks'
/// pool waits for a file. Each item costs a hop to that queue; a program that reads millions of them has a `Feed` on a thread of its own.
///
///     for await (now, item) in try await FeedSequence(paths: ["matches/"]) { … }
///
/// A sequence is read once: a second loop continues where the first one stopped, and loops over copies share the items. The files are closed when
/// the last copy is gone, or after the last item.
///
/// A file system that hangs, or a pipe that nobody writes, keeps a worker of Dispatch, of which a process has some hundreds. A task that is cancelled
/// while it waits gets the item that comes. The sequence waits while the system can create no thread.
public struct FeedSequence: AsyncSequence, Sendable {
    /// A piece of the feed, and the log time at which it arrives when the feed is replayed.
    public typealias Element = (now: FeedTime, item: FeedItem)
    /// Iteration never fails.
    public typealias Failure = Never

    /// Iterator over the items that the sequence has read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: FeedReader

        /// Returns the next item in log order; `nil` after the last one, and for a task that was cancelled before the call.
        public mutating func next() async -> FeedSequence.Element? { await reader.next() }

        /// Returns the next item in log order, on any actor; `nil` after the last one, and for a task that was cancelled before the call.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> FeedSequence.Element? {
            await reader.next()
        }
    }

    /// Files in the given folders that are not feeds, in path order, without sidecars (match metadata, timetables).
    public let skippedFiles: [String]

    private let reader: FeedReader

    /// Opens every file and reads up to its first event, as `Feed.init` does, while the task suspends. A cancelled task still waits.
    ///
    /// - Parameters:
    ///   - paths: files and folders. A pipe is read as lines of the native format.
    ///   - options: format, kick-off and sizes.
    /// - Throws: `FeedError` as for a `Feed`.
    public init(paths: [String], options: FeedOptions = FeedOptions()) async throws(FeedError) {
        let reader = FeedReader()
        skippedFiles = try await reader.open(paths, options).get()
        self.reader = reader
    }

    /// Returns an iterator that shares the items with all others.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }
}

/// A feed on a queue of its own, which closes its files after the last item.
///
/// `Sendable` is unchecked because the compiler cannot know that only blocks of the queue touch the feed.
private final class FeedReader: @unchecked Sendable {
    private let queue = DispatchQueue(label: "fanfare feed")
    private var feed: Feed?

    /// - Returns: the files that are not feeds.
    func open(_ paths: [String], _ options: FeedOptions) async -> Result<[String], FeedError> {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                do throws(FeedError) {
                    let opened = try Feed(paths: paths, options: options)
                    feed = opened
                    continuation.resume(returning: .success(opened.skippedFiles))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }

    /// - Returns: the next item; `nil` after the last one, and for a task that was cancelled before the call.
    func next() async -> FeedSequence.Element? {
        guard !Task.isCancelled else { return nil }
        return await withCheckedContinuation { continuation in
            queue.async { [self] in
                let item = feed?.next()
                if item == nil { feed = nil }
                continuation.resume(returning: item)
            }
        }
    }
}
