import FanfareModel
internal import Glibc

/// Checkpoints of a store's folder: a file for each, `checkpoint-POSITION`, which gets its name when it is whole and durable.
///
/// A file is a sequence of rows, each preceded by its length in four bytes, lowest first, and with its checksum, which covers the row's number, too.
/// The first row is the head, and the last one has the number of rows. `Sendable` is unchecked because `CheckpointStore` confines it to one thread at
/// a time.
package final class CheckpointFolder: CheckpointStore, @unchecked Sendable {
    /// Number of the form that this release writes, of the file and of its rows.
    static let form: UInt8 = 3
    private static let prefix = "checkpoint-"
    private static let partialPrefix = "checkpoint.partial"
    private static let bufferSize = ByteCount.kibibytes(64)

    private let folder: String
    /// File that is being written. Only this object uses the name: the thread of an ended engine may still write a file of its own.
    private let partial: String
    private var begun: Begun?
    private var disregarded: Set<LogPosition> = []

    private struct Begun {
        let head: CheckpointHead
        let file: OutputDescriptor
        var rows: UInt64 = 0
        var buffer: [UInt8] = []
    }

    package init(folder: String) {
        self.folder = folder
        partial = "\(folder)/\(CheckpointFolder.partialPrefix)-\(UInt64.random(in: 0...UInt64.max))"
    }

    // MARK: - Reading

    package func head(at position: LogPosition) throws(LogError) -> CheckpointHead {
        var rows = try CheckpointRows(path(of: position))
        return try rows.head(at: position)
    }

    package func read(at position: LogPosition, _ body: ([UInt8]) throws(LogError) -> Void) throws(LogError) {
        var rows = try CheckpointRows(path(of: position))
        _ = try rows.head(at: position)
        while let row = try rows.next() { try body(row) }
    }

    package func disregard(_ positions: [LogPosition]) { disregarded.formUnion(positions) }

    package func positions() throws(LogError) -> [LogPosition] {
        try names().compactMap { (name) -> LogPosition? in
            guard name.hasPrefix(CheckpointFolder.prefix),
                let position = LogPosition(name.dropFirst(CheckpointFolder.prefix.count)),
                path(of: position).hasSuffix("/" + name), !disregarded.contains(position)
            else { return nil }
            return position
        }.sorted(by: >)
    }

    /// Removes the unfinished files of ended processes. No other process may write to the folder.
    func removePartial() throws(LogError) {
        for name in try names() where name.hasPrefix(CheckpointFolder.partialPrefix) {
            unsafe unlink("\(folder)/\(name)")
        }
    }

    private func names() throws(LogError) -> [String] {
        guard let directory = unsafe opendir(folder) else {
            if errno == ENOENT { return [] }
            throw CheckpointFolder.failure(folder, "cannot be read")
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            unsafe names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// Path of the file of a checkpoint, which need not exist.
    func path(of position: LogPosition) -> String { "\(folder)/\(CheckpointFolder.prefix)\(position)" }

    // MARK: - Writing

    package func begin(_ head: CheckpointHead) throws(LogError) {
        abandon()
        let file = try OutputDescriptor(partial, ownerOf: folder + "/data.mdb")
        begun = Begun(head: head, file: file)
        try append([head.bytes])
    }

    package func append(_ rows: [[UInt8]]) throws(LogError) {
        for row in rows { try append(row) }
    }

    private func append(_ row: [UInt8]) throws(LogError) {
        guard begun != nil else { return }
        guard row.count < CheckpointRows.sizeMax.bytes else {
            throw LogError("\(partial): a topic of \(row.count) bytes is too large for a checkpoint", .entry)
        }
        let sealed = LogEntry.sealed(row[...], at: begun!.rows)  // begun, as the guard says
        begun!.rows += 1
        unsafe withUnsafeBytes(of: UInt32(sealed.count).littleEndian) { unsafe begun!.buffer += $0 }
        begun!.buffer += sealed
        if begun!.buffer.count >= CheckpointFolder.bufferSize.bytes { try flush() }
    }

    private func flush() throws(LogError) {
        guard let file = begun?.file, let buffer = begun?.buffer else { return }
        try file.write(buffer)
        begun!.buffer.removeAll(keepingCapacity: true)  // begun, as the guard says
    }

    package func finish() throws(LogError) -> LogPosition {
        guard let rows = begun?.rows, let head = begun?.head else { return 0 }
        try append(CheckpointRows.end(after: rows))
        try flush()
        try begun?.file.sync()
        begun = nil
        let path = path(of: head.position)
        guard unsafe rename(partial, path) == 0 else {
            throw CheckpointFolder.failure(path, "cannot be written")
        }
        try StoreFolder.syncNames(folder)
        disregarded.remove(head.position)
        let positions = try positions()
        if positions.count >= checkpointsKept {
            for position in positions[checkpointsKept...] + disregarded { unsafe unlink(self.path(of: position)) }
            disregarded = []
        }
        return positions.count < checkpointsKept ? 0 : positions[checkpointsKept - 1] - 1
    }

    package func abandon() {
        guard begun.take() != nil else { return }
        unsafe unlink(partial)
    }

    fileprivate static func failure(_ path: String, _ what: String) -> LogError {
        LogError(unsafe "\(path): \(what): \(String(cString: strerror(errno)))")
    }
}

extension CheckpointHead {
    fileprivate var bytes: [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: CheckpointFolder.form)
        writer.write(position)
        writer.write(now)
        writer.write(fixed: checksum)
        writer.write(rules.text)
        writer.write(rules.decisionVersion)
        return writer.bytes
    }
}

/// Rows of a checkpoint's file, read in order.
private struct CheckpointRows: ~Copyable {
    /// A row is no larger than the largest topic, which is far below a log's largest entry.
    static let sizeMax = ByteCount.mebibytes(256)
    /// First byte of the last row. No writer's row begins with it.
    private static let end: UInt8 = 0

    private let path: String
    private let descriptor: CInt
    private var buffer: ArraySlice<UInt8> = []
    private var number: UInt64 = 0

    init(_ path: String) throws(LogError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CheckpointFolder.failure(path, "cannot be read") }
    }

    deinit { close(descriptor) }

    /// Row after the last one, with the number of rows before it.
    static func end(after rows: UInt64) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: end)
        writer.write(rows)
        return writer.bytes
    }

    /// Reads the first row.
    mutating func head(at position: LogPosition) throws(LogError) -> CheckpointHead {
        let row = try row()
        do throws(SerialError) {
            var reader = SerialReader(row[...])
            let form = try reader.byte()
            guard form <= CheckpointFolder.form else { throw .newerForm(form, known: CheckpointFolder.form) }
            let head = CheckpointHead(
                position: try reader.unsigned(), now: try reader.time(), checksum: try reader.fixed32(),
                rules: LogRules(text: try reader.text(), decisionVersion: try reader.unsigned()))
            guard form > 0, reader.isAtEnd, head.position == position else { throw .malformed("head") }
            return head
        } catch {
            throw damage("\(error)", error.isOfNewerRelease ? .newerRelease : .damaged)
        }
    }

    /// Reads the next row; `nil` at the end.
    mutating func next() throws(LogError) -> [UInt8]? {
        let before = number
        let row = try row()
        guard row.first == CheckpointRows.end else { return row }
        guard row == CheckpointRows.end(after: before) else { throw damage("a row is missing") }
        return nil
    }

    private mutating func row() throws(LogError) -> [UInt8] {
        let length = try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= CheckpointRows.sizeMax.bytes else { throw damage("a length is wrong") }
        let sealed = try take(length)
        defer { number += 1 }
        do throws(SerialError) {
            return try SerialReader.content(ofSealed: sealed, at: number)
        } catch { throw damage("row \(number): \(error)") }
    }

    private mutating func take(_ count: Int) throws(LogError) -> [UInt8] {
        while buffer.count < count {
            var piece = [UInt8](repeating: 0, count: max(1 << 16, min(count - buffer.count, 16 << 20)))
            let got = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw CheckpointFolder.failure(path, "cannot be read") }
            guard got > 0 else { throw damage("it ends too early") }
            buffer = ArraySlice(buffer + piece.prefix(got))
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    func damage(_ what: String, _ cause: LogError.Cause = .damaged) -> LogError {
        LogError("\(path): \(what)", cause)
    }
}
