import FanfareFeeds
import Testing

/// A program that embeds Fanfare imports `FanfareFeeds` alone, and not the modules behind it.
@Suite struct FeedsProductTests {
    private static let line = #"{"topic":"order/1","at":1781359200,"set":{"a":1}}"#
    private static let order = TopicID("order/1")

    private func decode(_ messages: [String]) -> [FeedItem] {
        var decoder = NativeLineDecoder(name: "orders")
        var items: [FeedItem] = []
        for message in messages { decoder.decode(message: Array(message.utf8), into: &items) }
        return items
    }

    @Test func aMessageNeedsNoLineEndAndMayHoldSeveralLines() {
        let line = Self.line
        let items = decode([line, line + "\n", line + "\r\n" + line])
        #expect(items.compactMap(\.event?.topic) == [Self.order, Self.order, Self.order, Self.order])
    }

    @Test func aRejectionNamesTheMessageByItsNumber() {
        let items = decode([Self.line, "", "no event", Self.line])
        #expect(items.compactMap(\.rejection?.location) == ["orders:3"])
        #expect(items.count == 3)
    }

    @Test func aNoticePrecedesTheEventOfItsLine() {
        let items = decode([#"{"topic":"order/1","at":1781359200,"patch":{"a":1}}"#])
        #expect(items.first?.notice?.hasPrefix("orders:1: ") == true)
        #expect(items.last?.event?.topic == Self.order && items.count == 2)
    }

    @Test func aMessageCompletesTheLineThatCameBefore() {
        let bytes = Array(Self.line.utf8)
        var decoder = NativeLineDecoder()
        var items: [FeedItem] = []
        decoder.decode(Array(bytes.prefix(9)), into: &items)
        #expect(items.isEmpty)
        decoder.decode(message: Array(bytes.dropFirst(9)), into: &items)
        #expect(items.compactMap(\.event?.topic) == [Self.order])
    }

    @Test func aLineBeyondItsBoundIsRejectedOnceAndDropped() {
        var decoder = NativeLineDecoder(name: "orders", lineSizeMax: .bytes(64))
        var items: [FeedItem] = []
        for _ in 0..<100 { decoder.decode([UInt8](repeating: UInt8(ascii: "x"), count: 10_000), into: &items) }
        decoder.decode(message: [], into: &items)
        decoder.decode(message: Array(Self.line.utf8), into: &items)
        #expect(items.first?.rejection?.reason == "the line is longer than 64 bytes")
        #expect(items.last?.event?.topic == Self.order && items.count == 2)
    }

    /// An array of the items of such a message takes a hundred times the message's memory.
    @Test func brokenLinesArePulledOneItemAtATime() {
        let count = 50_000
        let message = Array(String(repeating: "x\n", count: count).utf8)
        let good = Array(Self.line.utf8)
        var decoder = NativeLineDecoder(name: "orders")
        decoder.append(message: message.span)
        var places: [String] = []
        while places.count < 3, let item = decoder.next() { places.append(item.rejection?.location ?? "none") }
        #expect(places == ["orders:1", "orders:2", "orders:3"])
        // Another message may come before the first has been taken.
        decoder.append(message: good.span)
        var pulled = places.count
        var last: FeedItem?
        while let item = decoder.next() {
            pulled += 1
            last = item
        }
        #expect(pulled == count + 1)
        #expect(last?.event?.topic == Self.order)
    }

    @Test func aPulledMessageNeedsNoLineEndAndCompletesTheLineThatCameBefore() {
        let bytes = Array(Self.line.utf8)
        let beginning = Array(bytes.prefix(9))
        let rest = Array(bytes.dropFirst(9))
        var decoder = NativeLineDecoder()
        decoder.append(beginning.span)
        let early = decoder.next()
        #expect(early == nil)
        decoder.append(message: rest.span)
        let item = decoder.next()
        #expect(item?.event?.topic == Self.order)
        let none = decoder.next()
        #expect(none == nil)
    }

    @Test func theEndHasTheItemsThatWereNotPulled() {
        let bytes = Array((Self.line + "\n" + Self.line + "\nno ev").utf8)
        var decoder = NativeLineDecoder(name: "orders")
        var items: [FeedItem] = []
        decoder.append(bytes.span)
        decoder.finish(into: &items)
        #expect(items.compactMap(\.event?.topic) == [Self.order, Self.order])
        #expect(items.last?.rejection?.location == "orders:3" && items.count == 3)
        var other = NativeLineDecoder(name: "orders")
        var decoded: [FeedItem] = []
        other.decode(bytes.span, into: &decoded)
        other.finish(into: &decoded)
        #expect(decoded == items)
    }

    @Test func aProgramsTestsMakeRejectionsAndNotices() {
        let rejection = FeedRejection(location: "orders:1", reason: "not a JSON object")
        #expect(decode(["[]"]) == [.rejected(rejection)])
        #expect("\(rejection)" == "orders:1: not a JSON object")
        let notice = FeedNotice(location: "orders:1", text: "odd")
        #expect(FeedItem.noticed(notice) == .noticed(FeedNotice(location: "orders:1", text: "odd")))
        #expect(FeedItem.noticed(notice) != .rejected(rejection))
    }

    @Test func sizesOfOptionsAreBounded() {
        var options = FeedOptions(lineSizeMax: .max, documentSizeMax: .bytes(.min))
        #expect(options.lineSizeMax == .mebibytes(1024) && options.documentSizeMax == .bytes(1))
        options.documentSizeMax = .max
        options.lineSizeMax = .zero
        #expect(options.documentSizeMax == .mebibytes(1024) && options.lineSizeMax == .bytes(1))
    }

    @Test func aLoopTakesEachItemOfAFeedOnce() throws {
        let folder = try Folder()
        try folder.write("day.ndjson", Self.line + "\nno event\n" + Self.line + "\n")
        var places: [String] = []
        for (now, item) in try Feed(paths: [folder.path]) {
            #expect(now == FeedTime(seconds: 1_781_359_200))
            switch item {
            case .event(let event): places.append(event.topic.rawValue)
            case .rejected(let rejection): places.append(rejection.location)
            case .noticed(let notice): places.append(notice.location)
            }
        }
        #expect(places == ["order/1", folder.path + "/day.ndjson:2", "order/1"])
    }

    @Test func aTaskTakesTheSameItemsAsAThread() async throws {
        let folder = try Folder()
        for file in 1...3 {
            let lines = (0..<400).map { #"{"topic":"order/\#(file)","at":\#(1_781_359_200 + $0),"set":{"a":\#($0)}}"# }
            try folder.write("\(file).ndjson", lines.joined(separator: "\n") + "\nno event\n")
        }
        try folder.write("README.md", "# Words\n")
        let feed = try Self.feed(folder.path)
        let sequence = try await FeedSequence(paths: [folder.path])
        #expect(sequence.skippedFiles == feed.skipped && feed.skipped.count == 1)
        var items: [FeedItem] = []
        var times: [FeedTime] = []
        for await (now, item) in sequence {
            items.append(item)
            times.append(now)
        }
        #expect(items.count == 1203 && items == feed.items && times == feed.times)
        for await _ in sequence { Issue.record("a second loop begins again") }
    }

    private static func feed(_ path: String) throws -> (items: [FeedItem], times: [FeedTime], skipped: [String]) {
        let feed = try Feed(paths: [path])
        let all = Array(feed)
        return (all.map(\.item), all.map(\.now), feed.skippedFiles)
    }

    @Test func aPathWithoutAFeedIsTheSameErrorForATask() async {
        let error = await #expect(throws: FeedError.self) { try await FeedSequence(paths: ["/nowhere"]) }
        #expect(error?.path == "/nowhere" && error?.reason == "there is no such file or folder")
    }

    @Test func aPathWithoutAFeedIsAnErrorWithPathAndReason() {
        let error = #expect(throws: FeedError.self) { try Feed(paths: ["/nowhere"]) }
        #expect(error?.path == "/nowhere" && error?.reason == "there is no such file or folder")
    }
}
