public import FanfareModel
import FanfareThreads

/// One feed, merged from several files and folders, for tasks. A thread of the sequence reads it as a `Feed`, up to 256 items ahead, so that no
/// thread of the tasks' pool waits for a file.
///
/// ```swift
/// for await (now, item) in try await FeedSequence(paths: ["matches/"]) { print(now, item) }
/// ```
///
/// A sequence is read once: a second loop continues where the first one stopped, and loops over copies share the items. A task that is cancelled
/// while it waits gets `nil`, and the item that comes is for the next call.
///
/// A sequence has one thread, however many tasks wait. The thread closes the files and ends after the last item, or once all copies of the sequence
/// and all iterators are gone. A read that blocks at that moment, because a file system hangs or nobody writes to a pipe, keeps the thread until it
/// returns; the end of the process does not wait for it.
public struct FeedSequence: AsyncSequence, Sendable {
    /// A piece of the feed, and the log time at which it arrives when the feed is replayed.
    public typealias Element = (now: FeedTime, item: FeedItem)
    /// Iteration never fails.
    public typealias Failure = Never

    /// Iterator over the items that the sequence has read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: FeedReader

        /// Returns the next item in log order; `nil` after the last one, and for a cancelled task.
        public mutating func next() async -> FeedSequence.Element? { await reader.ahead.next() }

        /// Returns the next item in log order, on any actor; `nil` after the last one, and for a cancelled task.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> FeedSequence.Element? {
            await reader.ahead.next()
        }
    }

    /// Files in the given folders that are not feeds, in path order, without sidecars (match metadata, timetables).
    public let skippedFiles: [String]

    private let reader: FeedReader

    private static let aheadMax = 256

    /// Opens every file and reads up to its first event, as `Feed.init` does, while the task suspends. A cancelled task still waits.
    ///
    /// - Parameters:
    ///   - paths: files and folders. A pipe is read as lines of the native format.
    ///   - options: format, kick-off and sizes.
    /// - Throws: `FeedError` as for a `Feed`, or because no thread can be created.
    public init(paths: [String], options: FeedOptions = FeedOptions()) async throws(FeedError) {
        try await self.init(paths: paths, options: options) { (read) throws(ThreadError) in
            try DetachedThread.start(name: "feed", read)
        }
    }

    /// - Parameter start: runs a call that blocks on a thread for it.
    init(
        paths: [String], options: FeedOptions,
        start: @Sendable (_ read: @escaping @Sendable () -> Void) throws(ThreadError) -> Void
    ) async throws(FeedError) {
        let ahead = ReadAhead<Element>(limit: FeedSequence.aheadMax)
        let opened: Result<[String], FeedError> = await withCheckedContinuation { continuation in
            do throws(ThreadError) {
                try start {
                    do throws(FeedError) {
                        let feed = try Feed(paths: paths, options: options)
                        continuation.resume(returning: .success(feed.skippedFiles))
                        ahead.fill { feed.next() }
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                let fault = FeedError(path: paths.joined(separator: ", "), reason: error.description)
                continuation.resume(returning: .failure(fault))
            }
        }
        skippedFiles = try opened.get()
        reader = FeedReader(ahead)
    }

    /// Returns an iterator that shares the items with all others.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }
}

/// The tasks' end of the items, which the reading thread does not keep alive.
private final class FeedReader: Sendable {
    let ahead: ReadAhead<FeedSequence.Element>

    init(_ ahead: ReadAhead<FeedSequence.Element>) { self.ahead = ahead }

    deinit { ahead.abandon() }
}
