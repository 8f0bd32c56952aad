import Dispatch
import FanfareLoop
import FanfareModel
import Glibc

/// A file, a pipe or a terminal, written front to back by a thread of its own: a disk may hang and a reader may stop reading, and a caller
/// that runs a loop must not block on either. `-` is standard output.
///
/// The queue is bounded: `offer` takes nothing when there is no room, `write` blocks until there is room, and `append` is for callers that
/// check `isFull` before they produce more. After a write error, `failure` is set and all later bytes are dropped, so the only gaps in the
/// file are refused offers, which are counted. A file for operators (`goesOn`) continues after an error instead, because a disk that was
/// full for a moment must not silence later lines; the lost lines are counted, and the count is written as soon as the file takes it.
///
/// One thread may wait at a time.
final class OutputFile: Sendable {
    private struct State {
        var unwritten: [UInt8] = []
        /// Is `true` while the thread holds bytes that are not yet written.
        var isWriting = false
        /// `errno` of the first failed write.
        var failure: CInt?
        var refused = 0
        /// Lines lost in a file with `goesOn`.
        var lost = 0
        var hasThread = false
        var isClosed = false
        var madeRoom: (@Sendable () -> Void)?

        var isIdle: Bool { unwritten.isEmpty && !isWriting }

        mutating func fail(_ code: CInt) {
            failure = failure ?? code
            unwritten = []
            isWriting = false
        }
    }

    /// State that the writing thread keeps alive after the owner has gone.
    private final class Shared: Sendable {
        let state = Locked(State())
        let descriptor: CInt
        /// Continues with later bytes after bytes that could not be written.
        let goesOn: Bool
        /// Signalled when the thread has something to do.
        let work = DispatchSemaphore(value: 0)
        /// Signalled when bytes have been written or never will be.
        let progress = Progress()

        init(_ descriptor: CInt, goesOn: Bool) {
            self.descriptor = descriptor
            self.goesOn = goesOn
        }

        deinit { if descriptor > STDERR_FILENO { close(descriptor) } }
    }

    let name: String
    private let capacity: ByteCount
    private let shared: Shared

    /// Default capacity: about 2,500 lines of a decision log.
    static let capacity = ByteCount.mebibytes(1)
    /// Size of the bytes that a system call writes. A pipe holds as many, so the progress of a slow reader is seen.
    private static let pieceSizeMax = ByteCount.kibibytes(64)

    /// - Parameters:
    ///   - option: the option that named the file, for messages.
    ///   - capacity: size of the bytes that may wait; as many more may be in the hands of the writing thread.
    ///   - keepsContent: `true` to write behind the file's content, or to call `empty` later.
    ///   - awaitsReader: `false` only for a named pipe, to open it without a reader. The pipe outlives its readers, too: unread bytes wait for the
    ///     next one.
    convenience init(
        path: String, option: String, capacity: ByteCount = OutputFile.capacity, keepsContent: Bool = false,
        awaitsReader: Bool = true
    ) throws(UsageError) {
        guard path != "-" else {
            self.init(descriptor: STDOUT_FILENO, name: "standard output", capacity: capacity)
            return
        }
        // O_APPEND avoids a hole in the file when another program truncates it during the run, as log rotation does.
        let emptied = keepsContent ? 0 : O_TRUNC
        let mode = awaitsReader ? O_WRONLY : O_RDWR
        let descriptor = unsafe open(path, mode | O_CREAT | emptied | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw UsageError(unsafe "\(option) \(path): cannot be written: \(String(cString: strerror(errno)))")
        }
        self.init(descriptor: descriptor, name: path, capacity: capacity)
    }

    /// Writes a whole file, and waits until it is written.
    static func write(_ text: String, to path: String, option: String) throws {
        let file = try OutputFile(path: path, option: option)
        file.append(Array(text.utf8))
        guard file.flush() else { throw OutputError(file) }
    }

    /// - Parameters:
    ///   - descriptor: closed at the end, unless it is 0, 1 or 2.
    ///   - goesOn: continues after lines that could not be written; for lines to operators.
    init(descriptor: CInt, name: String, capacity: ByteCount = OutputFile.capacity, goesOn: Bool = false) {
        self.name = name
        self.capacity = capacity
        shared = Shared(descriptor, goesOn: goesOn)
    }

    /// The thread still writes the waiting bytes, unless the process ends first. `flush` reports whether they were written.
    deinit {
        let isInUse = shared.state.withLock { state in
            state.isClosed = true
            return state.hasThread || !state.unwritten.isEmpty
        }
        if isInUse { wake() }
    }

    /// Removes a file's content, before the first byte is written; does nothing to a pipe, a terminal, or standard output.
    func empty() { if shared.descriptor > STDERR_FILENO { ftruncate(shared.descriptor, 0) } }

    /// Waits until all writes are on disk.
    ///
    /// - Returns: `false` if the sync failed; `errno` has the reason.
    func sync() -> Bool { fsync(shared.descriptor) == 0 }

    /// Reason why not everything could be written, in one line for people; `nil` if there was no failure.
    var failure: String? {
        shared.state.withLock(\.failure).map { unsafe "\(name): cannot be written: \(String(cString: strerror($0)))" }
    }

    /// Is `true` when the reader has closed the pipe.
    var hasLostItsReader: Bool { shared.state.withLock(\.failure) == EPIPE }
    /// Number of refused offers.
    var refused: Int { shared.state.withLock(\.refused) }
    /// Number of lines that were taken and could not be written, in a file with `goesOn`.
    var lost: Int { shared.state.withLock(\.lost) }
    var isFull: Bool { shared.state.withLock { $0.unwritten.count >= capacity.bytes } }
    /// Is `true` when no bytes wait and the thread holds none.
    var isIdle: Bool { shared.state.withLock(\.isIdle) }

    /// Sets the closure that the writing thread calls each time it has made room.
    func whenRoom(_ body: @escaping @Sendable () -> Void) { shared.state.withLock { $0.madeRoom = body } }

    /// Takes the bytes, even when there is no room. They leave once 64 KB wait, or with `flush`.
    ///
    /// - Parameter leaveAtOnce: `true` if a person reads along.
    func append(_ bytes: [UInt8], leaveAtOnce: Bool = false) {
        let isDue = shared.state.withLock { state in
            guard state.failure == nil else { return false }
            state.unwritten.append(contentsOf: bytes)
            return leaveAtOnce || state.unwritten.count >= OutputFile.pieceSizeMax.bytes
        }
        if isDue { wake() }
    }

    /// Takes all of the bytes and writes them at once, or refuses all of them.
    @discardableResult func offer(_ bytes: [UInt8]) -> Bool {
        let isTaken = shared.state.withLock { state in
            guard state.failure == nil else { return true }
            guard state.unwritten.count < capacity.bytes else {
                state.refused += 1
                return false
            }
            state.unwritten.append(contentsOf: bytes)
            return true
        }
        if isTaken { wake() }
        return isTaken
    }

    /// Takes the bytes and blocks until there is room for more.
    ///
    /// - Parameter patience: longest time without a written byte; `nil` means no limit.
    /// - Returns: whether there is room.
    @discardableResult func write(_ bytes: [UInt8], patience: Duration? = nil) -> Bool {
        append(bytes)
        return !isFull || wait(patience) { !self.isFull }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Waits until everything is written.
    ///
    /// - Parameter patience: longest time without a written byte; `nil` means no limit.
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
                swap(&bytes, &state.unwritten)
                state.isWriting = !bytes.isEmpty
                isClosed = state.isClosed
                return state.madeRoom
            }
            guard !bytes.isEmpty else { continue }
            madeRoom?()
            // The note counts the lines lost before it; once it is written, those lines are not counted again.
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

    /// A gap in the file, where lines were lost.
    private struct Hole {
        let lines: Int
        /// `errno` of the failed write.
        let failure: CInt

        /// The note begins with a line break because the last written line may have been cut short.
        var note: [UInt8] {
            Array(unsafe "\n\(lines.grouped) lines are missing here: \(String(cString: strerror(failure)))\n".utf8)
        }
    }

    /// Is `true` for errors that may pass, such as a full disk. A reader that has closed the pipe does not return.
    private static func mayPass(_ failure: CInt) -> Bool { [ENOSPC, EDQUOT, EIO, ENOMEM, ENOBUFS].contains(failure) }

    /// - Returns: `errno` of the failed write; `nil` if all bytes were written.
    private static func write(_ bytes: [UInt8], _ shared: Shared) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.prefix(pieceSizeMax.bytes).withUnsafeBytes {
                unsafe Glibc.write(shared.descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                shared.progress.made()
            } else if errno == EAGAIN {
                // EAGAIN: another process that shares the pipe has made it non-blocking.
                var ready = pollfd(fd: shared.descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}

/// A text that could not be written, or not completely.
struct OutputError: Error, CustomStringConvertible {
    let description: String
    /// Is `true` when the reader has closed the pipe, as in `fanfare … | head`: it has all it wanted.
    let hasLostItsReader: Bool

    init(_ file: OutputFile) {
        description = file.failure ?? "\(file.name): nobody reads it"
        hasLostItsReader = file.hasLostItsReader
    }
}
