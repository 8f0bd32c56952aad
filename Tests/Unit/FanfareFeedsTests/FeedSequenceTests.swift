import FanfareModel
import FanfareThreads
import Foundation
import Testing

@testable import FanfareFeeds

@Suite struct FeedSequenceTests {
    /// A named pipe with its writing end.
    private final class NamedPipe {
        let path: String
        private let folder: Folder
        private let writer: CInt
        private var both: CInt

        init() throws {
            let folder = try Folder()
            let path = folder.path + "/feed"
            let code = mkfifo(path, 0o600)
            #expect(code == 0)
            // The opening of a pipe for both ends waits for no other end, nor does that of one end afterwards.
            both = open(path, O_RDWR | O_CLOEXEC)
            writer = open(path, O_WRONLY | O_CLOEXEC)
            self.folder = folder
            self.path = path
        }

        deinit {
            closeOwnReader()
            close(writer)
        }

        func closeOwnReader() {
            if both >= 0 { close(both) }
            both = -1
        }

        func send(_ topics: String...) {
            let lines = topics.map { #"{"topic":"\#($0)","at":1781359200,"set":{"a":1}}"# + "\n" }
            let bytes = Array(lines.joined().utf8)
            let count = write(writer, bytes, bytes.count)
            #expect(count == bytes.count)
        }

        /// Waits until nobody has the pipe open for reading.
        func hasLostItsReaders() -> Bool {
            var end = pollfd(fd: writer, events: 0, revents: 0)
            return poll(&end, 1, 60_000) == 1 && end.revents & Int16(POLLERR) != 0
        }
    }

    @Test func aFeedThatNoThreadCanReadIsAnError() async {
        let error = await #expect(throws: FeedError.self) {
            try await FeedSequence(paths: ["a", "b"], options: FeedOptions()) { (_) throws(ThreadError) in
                throw ThreadError(code: EAGAIN)
            }
        }
        #expect(error?.path == "a, b")
        #expect(error?.reason == "no thread can be created: Resource temporarily unavailable")
    }

    @Test func aTaskThatIsCancelledWhileAPipeIsSilentLosesNoItem() async throws {
        let pipe = try NamedPipe()
        // The time of the second event confirms that of the first.
        pipe.send("order/1", "order/2")
        let sequence = try await FeedSequence(paths: [pipe.path])
        var topics: [String] = []
        var iterator = sequence.makeAsyncIterator()
        while topics.count < 2, let (_, item) = await iterator.next() {
            topics.append(item.event?.topic.rawValue ?? "none")
        }
        let waiting = Task {
            var iterator = sequence.makeAsyncIterator()
            return await iterator.next()?.item
        }
        waiting.cancel()
        let nothing = await waiting.value
        #expect(nothing == nil)
        pipe.send("order/3")
        let third = await iterator.next()?.item
        topics.append(third?.event?.topic.rawValue ?? "none")
        #expect(topics == ["order/1", "order/2", "order/3"])
    }

    @Test func aThreadThatReadsAPipeEndsWithItsReadOnceTheSequenceIsGone() async throws {
        let pipe = try NamedPipe()
        pipe.send("order/1", "order/2")
        do {
            let sequence = try await FeedSequence(paths: [pipe.path])
            pipe.closeOwnReader()
            // Once the second item is there, the thread is on its way to the third, or waits for it.
            var iterator = sequence.makeAsyncIterator()
            let first = await iterator.next()?.item
            let second = await iterator.next()?.item
            #expect(first?.event?.topic == TopicID("order/1") && second?.event?.topic == TopicID("order/2"))
        }
        pipe.send("order/3")
        let isClosed = pipe.hasLostItsReaders()
        #expect(isClosed)
    }
}
