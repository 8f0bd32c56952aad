import FanfareModel
import Foundation
import Glibc
import Synchronization
import Testing

@testable import FanfareCLI

@Suite(.timeLimit(.minutes(5))) struct OutputFileTests {
    private let path = NSTemporaryDirectory() + "fanfare-output-" + UUID().uuidString

    private var contents: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func offeredBytesAreWrittenInTheirOrder() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try OutputFile(path: path, option: "--decisions")
        #expect(file.offer(Array("one\n".utf8)))
        #expect(file.flush())
        #expect(contents == "one\n")
        file.append(Array("two\n".utf8))
        #expect(file.offer(Array("three\n".utf8)))
        #expect(file.flush())
        #expect(contents == "one\ntwo\nthree\n")
    }

    /// As logrotate's `copytruncate` does.
    @Test func aFileThatSomebodyEmptiesBeginsAnew() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try OutputFile(path: path, option: "--decisions")
        for _ in 0..<10 { file.append(Array("before\n".utf8)) }
        #expect(file.flush())
        #expect(truncate(path, 0) == 0)
        file.append(Array("after\n".utf8))
        #expect(file.flush())
        #expect(contents == "after\n")
    }

    /// A log shipper may come later than the first line, and again after a restart.
    @Test func aNamedPipeMayBeOpenedBeforeItsReader() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(mkfifo(path, 0o600) == 0)
        let file = try OutputFile(path: path, option: "--decisions", awaitsReader: false)
        for line in ["one\n", "two\n"] {
            #expect(file.offer(Array(line.utf8)) && file.flush())
            let reader = open(path, O_RDONLY)
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(read(reader, &bytes, bytes.count) == 4 && bytes.starts(with: line.utf8))
            close(reader)
        }
        #expect(file.failure == nil)
    }

    @Test func aFileIsEmptiedWhenItsContentIsNoMoreWanted() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "yesterday's\n".write(toFile: path, atomically: true, encoding: .utf8)
        let file = try OutputFile(path: path, option: "--decisions", keepsContent: true)
        #expect(contents == "yesterday's\n")
        file.empty()
        #expect(file.offer(Array("today's\n".utf8)) && file.flush())
        #expect(contents == "today's\n")
    }

    @Test func aLongFileIsWhole() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let line = String(repeating: "x", count: 99) + "\n"
        let file = try OutputFile(path: path, option: "--decisions", capacity: .bytes(1000))
        for _ in 0..<10_000 { file.write(line) }
        #expect(file.flush())
        #expect(contents == String(repeating: line, count: 10_000))
    }

    @Test func aFullDiskIsRememberedOnce() throws {
        let file = try OutputFile(path: "/dev/full", option: "--states")
        file.append([1])
        #expect(file.failure == nil)
        #expect(!file.flush())
        #expect(file.failure == "/dev/full: cannot be written: No space left on device")
        #expect(file.write([2]), "it is dropped, and nobody waits")
        #expect(!file.flush())
    }

    @Test func aPathThatCannotBeIsAUsageError() {
        let error = #expect(throws: UsageError.self) {
            try OutputFile(path: "/nonexistent/file", option: "--states")
        }
        #expect(error?.description == "--states /nonexistent/file: cannot be written: No such file or directory")
    }

    /// Ctrl-S, `| less`, a journal that hangs.
    @Test func aReaderWhoDoesNotReadHoldsUpNobody() throws {
        let pipe = try UnreadPipe()
        let file = OutputFile(descriptor: pipe.writing, name: "pipe", capacity: .bytes(1000))
        let line = [UInt8](repeating: 1, count: 100)
        waitUntilOneIsOnItsWay(file)
        for _ in 0..<10 { #expect(file.offer(line)) }
        #expect(!file.offer(line))
        #expect(file.refused == 1)
        #expect(!file.flush(patience: .milliseconds(20)))
        #expect(!file.write(line, patience: .milliseconds(20)))
        #expect(file.failure == nil)
        #expect(!file.isIdle)

        pipe.read(until: { file.isIdle })
        #expect(file.flush())
        #expect(file.offer(line))
        #expect(file.flush())
        #expect(file.refused == 1)
    }

    @Test func aWriterThatWaitsForRoomIsToldOfRoom() throws {
        let pipe = try UnreadPipe()
        let file = OutputFile(descriptor: pipe.writing, name: "pipe", capacity: .bytes(1000))
        waitUntilOneIsOnItsWay(file)
        let toldOfRoom = DispatchSemaphore(value: 0)
        file.whenRoom { toldOfRoom.signal() }
        file.append([UInt8](repeating: 1, count: 1000), leaveAtOnce: true)
        #expect(file.isFull)
        pipe.read(until: { !file.isFull })
        #expect(toldOfRoom.wait(timeout: .now() + 120) == .success)
    }

    @Test func aReaderWhoLeavesIsAFailure() throws {
        let pipe = try UnreadPipe()
        let file = OutputFile(descriptor: pipe.writing, name: "pipe")
        #expect(file.offer([1]))
        pipe.closeReading()
        #expect(!file.flush())
        #expect(file.hasLostItsReader)
        #expect(file.failure == "pipe: cannot be written: Broken pipe")
    }

    /// A core dump has filled the disk, and somebody has removed it.
    @Test func linesForOperatorsGoOnWhenTheDiskHasRoomAgain() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(descriptor > STDERR_FILENO)
        let file = OutputFile(descriptor: descriptor, name: "standard error", goesOn: true)
        #expect(file.offer(Array("lost\nlost too\n".utf8)))
        #expect(file.flush())
        #expect(file.offer(Array("lost as well\n".utf8)))
        #expect(file.flush())
        #expect(file.lost == 3 && file.failure == nil)

        let disk = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(disk >= 0 && dup2(disk, descriptor) == descriptor)
        close(disk)
        #expect(file.offer(Array("the key is revoked\n".utf8)))
        #expect(file.offer(Array("APNs is away\n".utf8)))
        #expect(file.flush())
        #expect(
            contents == "\n3 lines are missing here: No space left on device\nthe key is revoked\nAPNs is away\n")
        #expect(file.lost == 3)
    }

    @Test func aLiveLogCountsWhatIsNotRead() throws {
        let pipe = try UnreadPipe()
        let file = OutputFile(descriptor: pipe.writing, name: "pipe", capacity: .bytes(1000))
        let log = DecisionLogWriter(file, isLive: true, leavesAtOnce: true)
        let troubles = (0..<1000).compactMap { _ in log.write([UInt8](repeating: 1, count: 100)) }
        #expect(troubles == [.unread("pipe: nobody reads it; decisions are left out until somebody does")])
        let faults = log.finish(patience: .milliseconds(20))
        #expect(faults == ["pipe: nobody reads it", "pipe: \(file.refused) decisions not written"])
        #expect((900..<1000).contains(file.refused))
    }

    /// The writing thread has taken a line, and waits for the reader.
    private func waitUntilOneIsOnItsWay(_ file: OutputFile) {
        let taken = DispatchSemaphore(value: 0)
        file.whenRoom { taken.signal() }
        #expect(file.offer([1]))
        #expect(taken.wait(timeout: .now() + 120) == .success)
    }

    /// `output.isFull` holds the feed back instead.
    @Test func aRecordedLogIsWhole() throws {
        let pipe = try UnreadPipe()
        let file = OutputFile(descriptor: pipe.writing, name: "pipe", capacity: .bytes(1000))
        waitUntilOneIsOnItsWay(file)
        let log = DecisionLogWriter(file, isLive: false, leavesAtOnce: false)
        #expect((0..<1000).compactMap { _ in log.write([UInt8](repeating: 1, count: 100)) } == [])
        #expect(log.isFull)
        #expect(file.refused == 0)
        file.flush(patience: .zero)
        pipe.read(until: { file.isIdle })
        #expect(log.finish(patience: nil) == [])
    }
}

/// A pipe that is full before anybody writes into it.
private final class UnreadPipe {
    private var reading: CInt
    /// The writer closes it.
    let writing: CInt

    init() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let page = [UInt8](repeating: 0, count: 4096)
        while Glibc.write(writing, page, page.count) > 0 {}
        _ = fcntl(writing, F_SETFL, 0)
    }

    deinit { closeReading() }

    func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    /// Reads until something has come of it, a minute at most.
    func read(until isDone: () -> Bool) {
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
        var page = [UInt8](repeating: 0, count: 4096)
        let deadline = ContinuousClock.now + .seconds(60)
        while !isDone(), ContinuousClock.now < deadline {
            var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            _ = poll(&ready, 1, 10)
            _ = Glibc.read(reading, &page, page.count)
        }
    }
}
