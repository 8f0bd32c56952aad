internal import CFanfareZlib
package import FanfareModel

/// Position of an entry in a log, counting up from 1.
package typealias LogPosition = UInt64

/// Input that changed the engine's decisions. Decisions are a pure function of a log's entries, so only the log has to be kept.
package struct LogEntry: Sendable, Equatable {
    package enum Body: Sendable, Equatable {
        /// Rules that hold from here, as a rules file, and the version of the code that decides by them (`DecisionCore.version`).
        case rules(String, decisionVersion: UInt64)
        /// - wall: the wall clock when the event came, if log time may differ from it.
        case event(FeedEvent, wall: FeedTime?)
        /// Piece of a feed that could not be read.
        case rejection(FeedRejection)
        /// Passing of time: timers that are due by the entry's `now` fire.
        case tick
        /// End of a feed: changes that wait for their interval are published.
        case feedEnd
    }

    /// Log time of the entry.
    package var now: FeedTime
    /// Number of the item in the recorded feed that it came from, from 1; 0 for an entry that comes from no recorded feed.
    package var item: UInt64
    /// Key of the call that made the entry; `nil` if the caller gave none.
    package var key: CallKey?
    package var body: Body
    /// Position of the entry in whose place this one was read, because operators have set it aside (`fanfare log skip`); never written.
    package internal(set) var skippedAt: LogPosition?

    package init(now: FeedTime, item: UInt64 = 0, key: CallKey? = nil, _ body: Body) {
        self.now = now
        self.item = item
        self.key = key
        self.body = body
    }
}

// MARK: - Serial form

extension LogEntry {
    /// Number of the newest serial form that this release reads.
    package static let form: UInt8 = 2
    /// Forms of an entry without a key and of one with a key. Earlier releases can read a folder without keys.
    private static let (keylessForm, keyedForm): (UInt8, UInt8) = (1, 2)
    /// Greatest size of an entry. LMDB takes more; a feed's line is at most a megabyte by default.
    package static let sizeMax = ByteCount.mebibytes(64)

    /// Greatest nesting of an event's arrays and objects that is read back.
    package static let depthMax = SerialReader.depthMax

    /// Returns whether a row's kind is that of rules, also if the rest of it is damaged.
    static func looksLikeRules(_ row: [UInt8]) -> Bool { row.count > 1 && row[1] == Tag.rules.rawValue }

    private enum Tag: UInt8 { case rules = 1, event, rejection, tick, feedEnd }

    /// Returns the entry's serial form. Its checksum covers the position as well, so that an entry in a wrong place is noticed.
    package func bytes(at position: LogPosition) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: key == nil ? LogEntry.keylessForm : LogEntry.keyedForm)
        writer.write(byte: tag.rawValue)
        writer.write(now)
        writer.write(item)
        if let key { writer.write(key) }
        switch body {
        case .rules(let text, let version):
            writer.write(text)
            writer.write(version)
        case .event(let event, let wall):
            writer.write(event)
            writer.write(wall) { $0.write($1) }
        case .rejection(let rejection): writer.write(rejection)
        case .tick, .feedEnd: break
        }
        return LogEntry.sealed(writer.bytes[...], at: position)
    }

    /// Returns the bytes, followed by their checksum.
    package static func sealed(_ bytes: ArraySlice<UInt8>, at position: LogPosition) -> [UInt8] {
        var trailer = SerialWriter()
        trailer.write(fixed: checksum(of: bytes, at: position))
        return bytes + trailer.bytes
    }

    /// Checksum of the entry's row.
    package func checksum(at position: LogPosition) -> UInt32 { bytes(at: position).contentChecksum }

    private var tag: Tag {
        switch body {
        case .rules: .rules
        case .event: .event
        case .rejection: .rejection
        case .tick: .tick
        case .feedEnd: .feedEnd
        }
    }

    /// Reads an entry back from any bytes.
    package init(_ bytes: [UInt8], at position: LogPosition) throws(SerialError) {
        var reader = try SerialReader(sealed: bytes, at: position)
        let form = try reader.byte()
        guard form <= LogEntry.form else { throw .newerForm(form, known: LogEntry.form) }
        guard form > 0, let tag = Tag(rawValue: try reader.byte()) else { throw .malformed("kind") }
        now = try reader.time()
        item = try reader.unsigned()
        key = form == LogEntry.keyedForm ? try reader.callKey() : nil
        switch tag {
        case .rules:
            let text = try reader.text()
            body = .rules(text, decisionVersion: try reader.unsigned())
        case .event:
            let event = try reader.event()
            body = .event(event, wall: try reader.optional { (reader) throws(SerialError) in try reader.time() })
        case .rejection: body = .rejection(try reader.rejection())
        case .tick: body = .tick
        case .feedEnd: body = .feedEnd
        }
        guard reader.isAtEnd else { throw .malformed("length") }
    }

    fileprivate static let checksumBytes = 4

    /// CRC-32 of the position and the bytes. It detects damage, not intent: a writer of the store can write checksums.
    fileprivate static func checksum(of bytes: ArraySlice<UInt8>, at position: LogPosition) -> UInt32 {
        let start = unsafe withUnsafeBytes(of: position.littleEndian) { unsafe crc32_z(0, $0.baseAddress, $0.count) }
        return unsafe UInt32(
            truncatingIfNeeded: bytes.withUnsafeBytes { unsafe crc32_z(start, $0.baseAddress, $0.count) })
    }
}

extension SerialReader {
    /// Opens a sealed form, whose checksum must be that of its content and of the position.
    init(sealed bytes: [UInt8], at position: UInt64) throws(SerialError) {
        self.init(try SerialReader.content(ofSealed: bytes, at: position)[...])
    }

    /// Returns the content of a sealed form.
    static func content(ofSealed bytes: [UInt8], at position: UInt64) throws(SerialError) -> [UInt8] {
        guard bytes.count > LogEntry.checksumBytes else { throw .truncated }
        let content = bytes.dropLast(LogEntry.checksumBytes)
        var trailer = SerialReader(bytes.suffix(LogEntry.checksumBytes))
        guard try trailer.fixed32() == LogEntry.checksum(of: content, at: position) else { throw .checksum }
        return Array(content)
    }
}

extension [UInt8] {
    /// CRC-32 of a row's content, by which rows in one place are told apart. It leaves out the row's own checksum: with that included, the CRC of the
    /// whole would depend on place and length alone.
    var contentChecksum: UInt32 { dropLast(LogEntry.checksumBytes).checksum }

    /// CRC-32.
    var checksum: UInt32 { self[...].checksum }
}

extension ArraySlice<UInt8> {
    /// CRC-32.
    fileprivate var checksum: UInt32 {
        unsafe UInt32(truncatingIfNeeded: withUnsafeBytes { unsafe crc32_z(0, $0.baseAddress, $0.count) })
    }
}
