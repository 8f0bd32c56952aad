import FanfareLoop
public import FanfareModel

/// One feed, merged from several files and folders, for tasks. A thread of the sequence reads it as a `Feed`, some items ahead, so that no thread of
/// the tasks' pool waits for a file.
///
///     for await (now, item) in try await FeedSequence(paths: ["matches/"]) { … }
///
/// A sequence is read once: a second loop continues where the first one stopped, and loops over copies share the items. The files are closed when
/// the last copy is gone, or after the last item.
public struct FeedSequence: AsyncSequence, Sendable {
    /// A piece of the feed, and the log time at which it arrives when the feed is replayed.
    public typealias Element = (now: FeedTime, item: FeedItem)
    /// Iteration never fails.
    public typealias Failure = Never

    /// Iterator over the items that the sequence has read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// - Returns: the next item in log order; `nil` after the last one, and for a task that was cancelled before the call.
        public mutating func next() async -> FeedSequence.Element? { await reader.ahead.next() }

        /// Returns the next item in log order, on any actor; `nil` after the last one, and for a task that was cancelled before the call.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> FeedSequence.Element? {
            await reader.ahead.next()
        }
    }

    /// Files in the given folders that are not feeds, in path order, without sidecars (match metadata, timetables).
    public let skippedFiles: [String]

    private let reader: Reader

    private static let aheadMax = 256

    /// Opens every file and reads up to its first event, as `Feed.init` does, while the task suspends. A cancelled task still waits.
    ///
    /// - Parameters:
    ///   - paths: files and folders. A pipe is read as lines of the native format.
    ///   - options: format, kick-off and sizes.
    /// - Throws: `FeedError` as for a `Feed`.
    public init(paths: [String], options: FeedOptions = FeedOptions()) async throws(FeedError) {
        let ahead = ReadAhead<Element>(limit: FeedSequence.aheadMax)
        let opened: Result<[String], FeedError> = await withCheckedContinuation { continuation in
            do throws(LoopError) {
                try DetachedThread.run(name: "feed") {
                    do throws(FeedError) {
                        let feed = try Feed(paths: paths, options: options)
                        continuation.resume(returning: .success(feed.skippedFiles))
                        ahead.fill { feed.next() }
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                let fault = FeedError(path: paths.joined(separator: ", "), reason: error.reason)
                continuation.resume(returning: .failure(fault))
            }
        }
        skippedFiles = try opened.get()
        reader = Reader(ahead)
    }

    /// Returns an iterator that shares the items with all others.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }
}

/// The tasks' end of the items, which the reading thread does not keep alive.
private final class Reader: Sendable {
    let ahead: ReadAhead<FeedSequence.Element>

    init(_ ahead: ReadAhead<FeedSequence.Element>) { self.ahead = ahead }

    deinit { ahead.abandon() }
}
