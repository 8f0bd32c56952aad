import FanfareFeeds
import FanfareModel
import Foundation

extension FeedItem {
    var event: FeedEvent? { if case .event(let event) = self { event } else { nil } }
    var notice: String? { if case .noticed(let notice) = self { "\(notice)" } else { nil } }
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
    func all() -> [(now: FeedTime, item: FeedItem)] { Array(self) }

    func events() -> [FeedEvent] { all().compactMap(\.item.event) }
}
