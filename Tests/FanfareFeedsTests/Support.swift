import FanfareCore
import FanfareFeeds
import Foundation

extension FeedItem {
    var event: FeedEvent? { if case .event(let event) = self { event } else { nil } }
    var rejection: FeedRejection? { if case .rejected(let rejection) = self { rejection } else { nil } }
}

extension FeedEvent {
    var fact: Fact? { if case .fact(let fact) = change { fact } else { nil } }
}

/// A folder of its own for one test, gone with it.
final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "fanfare-feeds-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = path + "/" + name
        let parent = (file as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }
}

extension Feed {
    mutating func all() -> [(now: FeedTime, item: FeedItem)] {
        var items: [(now: FeedTime, item: FeedItem)] = []
        while let next = next() { items.append(next) }
        return items
    }

    mutating func events() -> [FeedEvent] { all().compactMap(\.item.event) }
}

/// The same numbers for the same seed, on every machine (splitmix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
