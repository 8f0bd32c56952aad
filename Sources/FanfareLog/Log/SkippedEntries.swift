internal import CFanfareLMDB
package import FanfareModel
internal import Glibc

/// Entries of a store's log that are set aside, in a file beside the log. Each line has the position and the CRC-32 of the row's content, so that
/// another row at that position, as after a restored backup, is not set aside. A reader takes a harmless entry instead, so a store goes on although
/// an entry is damaged or ends every process that decides it.
package struct SkippedEntries {
    /// Name of the file.
    static let name = "skipped"
    /// Far more than operators set aside; a larger file has another purpose.
    private static let sizeMax = ByteCount.kibibytes(64)

    private var checksums: [LogPosition: UInt32] = [:]

    var count: Int { checksums.count }
    var positions: [LogPosition] { checksums.keys.sorted() }

    /// Returns whether the row at that position is set aside.
    func contains(_ row: [UInt8], at position: LogPosition) -> Bool {
        checksums[position].map { $0 == row.contentChecksum } ?? false
    }

    /// Reads the file of a folder, which need not exist.
    init(folder: String) throws(LogError) {
        let path = folder + "/" + SkippedEntries.name
        try self.init(lines: try SkippedEntries.content(of: path), path: path)
    }

    /// Returns the bytes of a file, which need not exist.
    private static func content(of path: String) throws(LogError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [] }
        guard descriptor >= 0 else { throw SkippedEntries.failure(path, "cannot be read") }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: SkippedEntries.sizeMax.bytes + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes[count...].withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw SkippedEntries.failure(path, "cannot be read") }
            if got == 0 { break }
            count += got
        }
        guard count <= SkippedEntries.sizeMax.bytes else {
            throw LogError("\(path): more than \(SkippedEntries.sizeMax): no list of entries", .damaged)
        }
        return Array(bytes.prefix(count))
    }

    /// Reads the content of a file from any bytes.
    ///
    /// - Parameter path: names the file in faults.
    package init(lines bytes: [UInt8], path: String) throws(LogError) {
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 2, let position = LogPosition(words[0]), let checksum = UInt32(words[1]) else {
                throw LogError("\(path):\(number + 1): expected an entry's position and its checksum", .damaged)
            }
            checksums[position] = checksum
        }
    }

    /// Content of the file.
    package var lines: [UInt8] {
        Array(checksums.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined().utf8)
    }

    /// Adds a row, and returns when the file is durable. A crash leaves the former file or the new one. On an error the row is set aside for
    /// this process alone.
    mutating func insert(_ row: [UInt8], at position: LogPosition, in folder: String) throws(LogError) {
        guard !contains(row, at: position) else { return }
        checksums[position] = row.contentChecksum
        let path = folder + "/" + SkippedEntries.name
        var rest = lines[...]
        guard rest.count <= SkippedEntries.sizeMax.bytes else {
            throw LogError("\(path): too many entries are set aside; use a new folder", .damaged)
        }
        let partial = path + ".partial"
        let descriptor = unsafe open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SkippedEntries.failure(partial, "cannot be written") }
        defer { close(descriptor) }
        // The superuser's file is to be read by the user of the store.
        if geteuid() == 0 { _ = unsafe fanfare_give_to_owner_of(folder + "/data.mdb", descriptor) }
        while !rest.isEmpty {
            let put = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw SkippedEntries.failure(partial, "cannot be written") }
            rest = rest.dropFirst(put)
        }
        guard fsync(descriptor) == 0, unsafe rename(partial, path) == 0 else {
            throw SkippedEntries.failure(path, "cannot be written")
        }
        try StoreFolder.syncNames(folder)
    }

    private static func failure(_ path: String, _ what: String) -> LogError {
        LogError(unsafe "\(path): \(what): \(String(cString: strerror(errno)))")
    }
}

extension LogEntry {
    /// Returns the substitute of an entry that was set aside: time passes as it did, and the topic is paused, because its state may be wrong from
    /// here on. Its kind, the event's id and the call's key are remembered. An entry for all topics leaves nothing behind, so that it may be
    /// repeated.
    package func skipped(at position: LogPosition) -> LogEntry {
        var isOfAll = false
        if case .event(let event, _) = body { isOfAll = event.topic == .every }
        var entry = LogEntry(now: now, item: item, key: isOfAll ? nil : key, .tick)
        entry.skippedAt = position
        guard case .event(let event, let wall) = body, !isOfAll else { return entry }
        let pause = FeedEvent.Operation.pause
        entry.body = .event(
            FeedEvent(
                topic: event.topic, topicKind: event.topicKind, at: event.at, id: event.id, kind: pause.rawValue,
                change: .operation(pause)),
            wall: wall)
        return entry
    }

    /// One line for operators, of an entry that was read in another's place; `nil` for every other entry.
    package var skippedNotice: String? {
        guard let skippedAt else { return nil }
        let words = "entry \(skippedAt) of the store is set aside"
        guard let topic = pausedTopic else { return words + "; no topic is paused for it" }
        return words + "; \(topic) was paused in its place, until an operator orders `resume`"
    }

    /// Topic that is paused in place of an entry that was set aside.
    package var pausedTopic: TopicID? {
        guard skippedAt != nil, case .event(let event, _) = body else { return nil }
        return event.topic
    }
}
