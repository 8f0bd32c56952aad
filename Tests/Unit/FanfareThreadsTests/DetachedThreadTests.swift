import FanfareThreads
import Foundation
import Testing

@Suite struct DetachedThreadTests {
    /// Name of the calling thread, as the system has it.
    private static func currentName() -> String {
        let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private static func blocks(_ signal: CInt) -> Bool {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        return sigismember(&blocked, signal) == 1
    }

    @Test func aThreadHasTheBeginningOfItsNameAndGetsNoSignals() async throws {
        let (answers, answer) = AsyncStream.makeStream(of: String.self)
        try DetachedThread.start(name: "a name of more than fifteen bytes") {
            answer.yield(DetachedThreadTests.currentName())
            answer.yield(DetachedThreadTests.blocks(SIGTERM) ? "no signals" : "signals")
            answer.finish()
        }
        var all: [String] = []
        for await answer in answers { all.append(answer) }
        #expect(all == ["a name of more ", "no signals"])
    }

    /// In a process of its own: the limit is everybody's. Each thread that is created before the refusal has the stack of one that has ended.
    @Test func aThreadThatTheSystemRefusesIsAnError() async {
        await #expect(processExitsWith: .success) {
            let space = __rlimit_resource_t(RLIMIT_AS.rawValue)
            let figures = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            let pages = try #require(figures.first.flatMap { UInt($0) })
            var limit = rlimit()
            getrlimit(space, &limit)
            let before = limit
            // Too little for a stack.
            limit.rlim_cur = pages * UInt(getpagesize()) + 1 << 20
            setrlimit(space, &limit)
            var refusal: ThreadError?
            for _ in 0..<64 where refusal == nil {
                do throws(ThreadError) {
                    try DetachedThread.start(name: "stays") { pause() }
                } catch {
                    refusal = error
                }
            }
            limit = before
            setrlimit(space, &limit)
            let code = refusal?.code
            #expect(code == EAGAIN)
        }
    }

    @Test func theErrorIsASentenceForPeople() {
        #expect(ThreadError(code: EAGAIN).description == "no thread can be created: Resource temporarily unavailable")
    }
}
