import Dispatch
import FanfareLoop
import Glibc

/// A file, a pipe or a terminal that is written front to back, by a thread of its own: a disk may hang, and a reader may stop reading,
/// and whoever has a loop to run does not wait for that. `-` is standard output.
///
/// What waits is bounded: `offer` takes nothing when there is no room, `write` waits for room, and `append` is for those who look at
/// `isFull` before they make more. What cannot be written is remembered as `failure`, and everything after it is dropped, so that a
/// file has no holes but those of `offer`, which are counted. Lines for operators go on instead: a disk that was full for a moment
/// must not silence what comes later. What such a file lacks is counted, and said in it as soon as it can be.
///
/// One thread may wait at a time.
final class OutputFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// The thread has taken some, which are not yet written.
        var isWriting = false
        /// `errno`.
        var failure: CInt?
        var refused = 0
        /// Lines that were lost where `goesOn`.
        var lost = 0
        var hasThread = false
        var isClosed = false
        var madeRoom: (@Sendable () -> Void)?

        var isIdle: Bool { waiting.isEmpty && !isWriting }

        mutating func fail(_ code: CInt) {
            failure = failure ?? code
            waiting = []
            isWriting = false
        }
    }

    /// What the thread keeps when nobody else wants to write any more.
    private final class Shared: Sendable {
        let state = Locked(State())
        let descriptor: CInt
        /// Past what cannot be written for now.
        let goesOn: Bool
        /// There is something to do.
        let work = DispatchSemaphore(value: 0)
        /// Something has been written, or never will be.
        let progress = Progress()

        init(_ descriptor: CInt, goesOn: Bool) {
            self.descriptor = descriptor
            self.goesOn = goesOn
        }

        deinit { if descriptor > STDERR_FILENO { close(descriptor) } }
    }

    let name: String
    private let capacity: Int
    private let shared: Shared

    /// About 2,500 lines of a decision log.
    static let capacity = 1 << 20
    /// So many bytes are worth a call; and a pipe holds as many, so that a slow reader's progress is seen.
    private static let pieceMax = 1 << 16

    /// - Parameters:
    ///   - option: the option that named the file, for messages.
    ///   - capacity: bytes that may wait. As many may be on their way.
    convenience init(path: String, option: String, capacity: Int = OutputFile.capacity) throws(UsageError) {
        guard path != "-" else {
            self.init(descriptor: STDOUT_FILENO, name: "standard output", capacity: capacity)
            return
        }
        // Whoever empties the file while it is written, as log rotation does, finds no hole before what comes next.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw UsageError("\(option) \(path): cannot be written: \(String(cString: strerror(errno)))")
        }
        self.init(descriptor: descriptor, name: path, capacity: capacity)
    }

    /// - Parameters:
    ///   - descriptor: closed at the end, unless it is one of the standard three.
    ///   - goesOn: with lines for operators, after some that could not be written.
    init(descriptor: CInt, name: String, capacity: Int = OutputFile.capacity, goesOn: Bool = false) {
        self.name = name
        self.capacity = capacity
        shared = Shared(descriptor, goesOn: goesOn)
    }

    /// What waits is still written, unless the process ends before; who wants to know that asks `flush`.
    deinit {
        let isInUse = shared.state.withLock { state in
            state.isClosed = true
            return state.hasThread || !state.waiting.isEmpty
        }
        if isInUse { wake() }
    }

    /// Why not everything could be written: one line for people.
    var failure: String? {
        shared.state.withLock(\.failure).map { "\(name): cannot be written: \(String(cString: strerror($0)))" }
    }

    /// Whoever read it has left.
    var hasLostItsReader: Bool { shared.state.withLock(\.failure) == EPIPE }
    /// Offers that were not taken.
    var refused: Int { shared.state.withLock(\.refused) }
    /// Lines that were taken and could not be written, where others go on.
    var lost: Int { shared.state.withLock(\.lost) }
    var isFull: Bool { shared.state.withLock { $0.waiting.count >= capacity } }
    /// Nothing waits, and nothing is on its way.
    var isIdle: Bool { shared.state.withLock(\.isIdle) }

    /// - Parameter body: called on the writing thread when that has made room.
    func whenRoom(_ body: @escaping @Sendable () -> Void) { shared.state.withLock { $0.madeRoom = body } }

    /// Takes the bytes, however many wait. They leave with 64 KB of others, or with `flush`.
    ///
    /// - Parameter leaveAtOnce: somebody reads along.
    func append(_ bytes: [UInt8], leaveAtOnce: Bool = false) {
        let isDue = shared.state.withLock { state in
            guard state.failure == nil else { return false }
            state.waiting.append(contentsOf: bytes)
            return leaveAtOnce || state.waiting.count >= OutputFile.pieceMax
        }
        if isDue { wake() }
    }

    /// Takes all of the bytes, which leave at once, or none of them.
    @discardableResult func offer(_ bytes: [UInt8]) -> Bool {
        let isTaken = shared.state.withLock { state in
            guard state.failure == nil else { return true }
            guard state.waiting.count < capacity else {
                state.refused += 1
                return false
            }
            state.waiting.append(contentsOf: bytes)
            return true
        }
        if isTaken { wake() }
        return isTaken
    }

    /// Waits while there is no room for more.
    ///
    /// - Parameter patience: gives up when nothing could be written for so long; `nil`: never.
    /// - Returns: whether there is room.
    @discardableResult func write(_ bytes: [UInt8], patience: Duration? = nil) -> Bool {
        append(bytes)
        return !isFull || wait(patience) { !self.isFull }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Waits until everything is written.
    ///
    /// - Parameter patience: gives up when nothing could be written for so long; `nil`: never.
    /// - Returns: whether everything is written.
    @discardableResult func flush(patience: Duration? = nil) -> Bool {
        wait(patience) { self.isIdle } && failure == nil
    }

    @discardableResult private func wait(_ patience: Duration? = nil, until isDone: () -> Bool) -> Bool {
        shared.progress.wait(patience, until: isDone) { self.wake() }
    }

    private func wake() {
        let isFirst = shared.state.withLock { state in
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if isFirst {
            do {
                try DetachedThread.run(name: "output") { [shared] in OutputFile.run(shared) }
            } catch {
                shared.state.withLock { $0.fail(EAGAIN) }
            }
        }
        shared.work.signal()
    }

    // MARK: The writing thread

    private static func run(_ shared: Shared) {
        var bytes: [UInt8] = []
        var isClosed = false
        var hole: Hole?
        while !isClosed {
            shared.work.wait()
            bytes.removeAll(keepingCapacity: true)
            let madeRoom = shared.state.withLock { state in
                swap(&bytes, &state.waiting)
                state.isWriting = !bytes.isEmpty
                isClosed = state.isClosed
                return state.madeRoom
            }
            guard !bytes.isEmpty else { continue }
            madeRoom?()
            // The note tells of what was lost before it: once it is written, those lines are not counted again.
            var failure = (hole?.note).flatMap { write($0, shared) }
            if failure == nil {
                hole = nil
                failure = write(bytes, shared)
            }
            var missing = 0
            if let failure, shared.goesOn, mayPass(failure) {
                missing = bytes.count { $0 == UInt8(ascii: "\n") }
                hole = Hole(lines: (hole?.lines ?? 0) + missing, failure: failure)
            }
            shared.state.withLock { state in
                state.isWriting = false
                state.lost += missing
                if let failure, hole == nil { state.fail(failure) }
            }
            if failure != nil { madeRoom?() }
            shared.progress.made()
        }
    }

    /// Where lines are lost.
    private struct Hole {
        let lines: Int
        /// `errno`.
        let failure: CInt

        /// The last line that was written may have been cut short.
        var note: [UInt8] {
            Array("\n\(lines.grouped) lines are missing here: \(String(cString: strerror(failure)))\n".utf8)
        }
    }

    /// Room comes back; a reader who has left does not.
    private static func mayPass(_ failure: CInt) -> Bool { [ENOSPC, EDQUOT, EIO, ENOMEM, ENOBUFS].contains(failure) }

    /// - Returns: `errno`, where not all could be written.
    private static func write(_ bytes: [UInt8], _ shared: Shared) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.prefix(pieceMax).withUnsafeBytes {
                Glibc.write(shared.descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                shared.progress.made()
            } else if errno == EAGAIN {
                // The pipe is shared with somebody who wants it so.
                var ready = pollfd(fd: shared.descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
