import FanfareLog
public import FanfareModel
public import FanfareQueues

/// Commits of one part of a store since the engine's start: of its log, its people or its claims. Each part has a thread and a file of its own.
public struct CommitCounts: Sendable, Equatable {
    /// Time from the beginning of each commit until it was durable, with all tries that failed; `count` is the number of commits.
    public var times = Histogram()
    /// Time for which the present commit has been on its way to the disk; `nil` between two commits.
    public var running: Duration?
    /// Reason why the disk refuses the present commit, in one line for people; `nil` if it has not refused the commit.
    public var trouble: String?
    /// Size of the rows that were written since the engine's start. LMDB writes whole pages, so the disk writes more.
    public var written = ByteCount.zero
    /// Size of the part's file, with pages that are used again.
    public var fileSize = ByteCount.zero
    /// Size of the address space into which the file is mapped. The store doubles it once it is full.
    public var mapSize = ByteCount.zero

    /// Creates figures of zero, for a program's tests.
    public init() {}
}

extension CommitCounts {
    init(_ figures: CommitFigures) {
        times = figures.times
        running = figures.running(at: CommitMeter.now)
        trouble = figures.trouble
        (written, fileSize, mapSize) = (figures.size.written, figures.size.file, figures.size.map)
    }
}
