import FanfareFeeds
import FanfareModel
import Foundation

/// Lines, in chunks of two sizes, and pulled one item at a time: the same bytes must give the same items however they are cut and taken.
func runNative(_ bytes: [UInt8]) {
    func items(chunkBytes: Int) -> [FeedItem] {
        var decoder = NativeLineDecoder(lineSizeMax: .bytes(512))
        var items: [FeedItem] = []
        for start in stride(from: 0, to: bytes.count, by: chunkBytes) {
            decoder.decode(Array(bytes[start..<min(start + chunkBytes, bytes.count)]), into: &items)
        }
        decoder.finish(into: &items)
        for item in items { check(item) }
        return items
    }
    func pulledItems() -> [FeedItem] {
        var decoder = NativeLineDecoder(lineSizeMax: .bytes(512))
        var items: [FeedItem] = []
        decoder.append(bytes.span)
        while let item = decoder.next() { items.append(item) }
        decoder.finish(into: &items)
        return items
    }
    let whole = items(chunkBytes: max(1, bytes.count))
    promise(whole.count <= 2 * bytes.count, "\(whole.count) items of \(bytes.count) bytes")
    promise(whole == items(chunkBytes: 5), "the items depend on how the bytes are cut")
    promise(whole == pulledItems(), "the items depend on how they are taken")
}

private func check(_ item: FeedItem) {
    switch item {
    case .event(let event): promise(event.at.isPlausible, "an event at \(event.at)")
    case .rejected(let rejection): promise(!rejection.reason.isEmpty, "a rejection without a reason")
    case .noticed(let notice): promise(!notice.text.isEmpty, "a notice without words")
    }
}

/// Formats of whole documents, which are read from files; with the sidecars they need.
enum DocumentFuzzing {
    /// One per process, and gone with what temporary folders go with: a fuzzer ends where it likes.
    private static let folder: String? = {
        let folder = NSTemporaryDirectory() + "fanfare-fuzz-\(getpid())"
        let metadata = #"""
            [{"wyId": 7, "dateutc": "2018-05-13 14:00:00", "teamsData": {"2": {"side": "home"}, "1": {"side": "away"}}}]
            """#
        let information = #"""
            <?xml version="1.0" encoding="UTF-8"?><PutDataRequest><MatchInformation>
            <General MatchId="M-1" PlannedKickoffTime="2022-10-15T11:00:00.000+00:00" HomeTeamName="A" HomeTeamId="H"
              GuestTeamName="B" GuestTeamId="G"/></MatchInformation></PutDataRequest>
            """#
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(metadata.utf8).write(to: URL(fileURLWithPath: folder + "/matches-metadata.json"))
            try Data(information.utf8).write(to: URL(fileURLWithPath: folder + "/information.xml"))
            return folder
        } catch {
            return nil
        }
    }()

    /// Without its file a run would test nothing, and look like a good one: so it ends.
    ///
    /// - Precondition: one call at a time in a process.
    static func run(_ bytes: [UInt8], as format: FeedFormat) {
        guard let folder else { fatalError("no temporary folder can be made in \(NSTemporaryDirectory())") }
        let path = folder + "/document"
        guard (try? Data(bytes).write(to: URL(fileURLWithPath: path))) != nil else {
            fatalError("\(path) cannot be written")
        }
        let options = FeedOptions(format: format, lineSizeMax: .kibibytes(64), documentSizeMax: .kibibytes(64))
        guard let feed = try? Feed(paths: [path], options: options) else { return }
        var now = FeedTime(milliseconds: 0)
        var count = 0
        while let (next, item) = feed.next() {
            check(item)
            promise(next >= now, "log time goes back from \(now) to \(next)")
            now = next
            count += 1
            // A row gives at most itself, a period and a break; a document, its start.
            promise(count <= 3 * bytes.count + 3, "more than \(count) items of \(bytes.count) bytes")
        }
    }
}
