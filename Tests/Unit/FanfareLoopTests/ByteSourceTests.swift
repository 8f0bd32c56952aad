import FanfareLoop
import Foundation
import Testing

@Suite struct ByteSourceTests {
    /// Everything that comes, and how it ended.
    private func drain(_ open: (Loop) throws -> ByteSource) throws -> (bytes: [UInt8], error: LoopError?) {
        var bytes: [UInt8] = []
        var ending: LoopError?
        try withLoop { loop in
            let source = try open(loop)
            source.onBytes = { bytes += $0 }
            source.onEnd = { error in
                ending = error
                loop.stop()
            }
            source.resume()
        }
        return (bytes, ending)
    }

    /// Like standard input of `fanfare replay -`: what is written now must arrive before more is written.
    @Test func aPipeDeliversEachLineAsItIsWritten() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        var lines: [String] = []
        var hasEnded = false
        try withLoop { loop in
            let source = try ByteSource(loop: loop, descriptor: ends[0], name: "pipe")
            source.onBytes = { bytes in
                lines.append(String(decoding: bytes, as: UTF8.self))
                if lines.count < 3 { write(ends[1], "line \(lines.count)\n", 7) } else { close(ends[1]) }
            }
            source.onEnd = { error in
                #expect(error == nil)
                hasEnded = true
                loop.stop()
            }
            source.resume()
            write(ends[1], "line 0\n", 7)
        }
        #expect(lines == ["line 0\n", "line 1\n", "line 2\n"])
        #expect(hasEnded)
    }

    @Test func aFileArrivesWhole() throws {
        let text = String(repeating: "0123456789\n", count: 100_000)
        let file = try TemporaryFile(text)
        let (bytes, error) = try drain { try ByteSource.file(loop: $0, path: file.path) }
        #expect(error == nil)
        #expect(bytes == Array(text.utf8))
    }

    @Test func anEmptyDeviceEnds() throws {
        let (bytes, error) = try drain { try ByteSource.file(loop: $0, path: "/dev/null") }
        #expect(bytes.isEmpty)
        #expect(error == nil)
    }

    @Test func aDirectoryIsAnErrorWithItsName() throws {
        let (_, error) = try drain { try ByteSource.file(loop: $0, path: "/") }
        #expect(error?.place == "/")
        #expect(error?.reason.contains("directory") == true)
    }

    @Test func aMissingFileIsAnErrorWithItsName() throws {
        let loop = try Loop()
        defer { loop.close() }
        do throws(LoopError) {
            _ = try ByteSource.file(loop: loop, path: "/nowhere/feed.ndjson")
            Issue.record("opened")
        } catch {
            #expect(error.kind == .fileNotFound)
            #expect(error.description == "/nowhere/feed.ndjson: no such file or directory (open)")
        }
    }

    @Test func pausingAByteSourceLosesNothing() throws {
        let text = String(repeating: "0123456789\n", count: 50_000)
        let file = try TemporaryFile(text)
        var bytes: [UInt8] = []
        try withLoop { loop in
            let source = try ByteSource.file(loop: loop, path: file.path)
            var isPaused = false
            let timer = LoopTimer(loop: loop) {
                isPaused.toggle()
                if isPaused { source.pause() } else { source.resume() }
            }
            source.onBytes = { chunk in
                #expect(!isPaused)
                bytes += chunk
            }
            source.onEnd = { _ in loop.stop() }
            // Pauses right after a read has begun, so that it ends too late.
            source.resume()
            source.pause()
            isPaused = true
            timer.start(after: .milliseconds(1), repeating: .milliseconds(1))
        }
        #expect(bytes == Array(text.utf8))
    }

    @Test func aByteSourceClosesInItsCallbackAndWithTheLoop() throws {
        let file = try TemporaryFile("some bytes")
        let loop = try Loop()
        var calls = 0
        let first = try ByteSource.file(loop: loop, path: file.path)
        first.onBytes = { _ in
            calls += 1
            first.close()
            first.close()
            first.resume()
            loop.stop()
        }
        first.onEnd = { _ in calls += 100 }
        first.resume()
        loop.run()
        let second = try ByteSource.file(loop: loop, path: file.path)
        second.onBytes = { _ in calls += 100 }
        second.resume()
        loop.close()
        second.resume()
        #expect(calls == 1)
    }

    @Test func readFileIsBounded() throws {
        let file = try TemporaryFile("12345678")
        #expect(try readFile(file.path, max: 8) == Array("12345678".utf8))
        #expect(try readFile(file.path, max: .max) == Array("12345678".utf8))
        do throws(LoopError) {
            _ = try readFile(file.path, max: 7)
            Issue.record("read more than allowed")
        } catch {
            #expect(error.kind == .tooLarge)
        }
    }
}
