public import FanfareModel

/// Decoder for native lines that arrive live, in chunks of any size: a line's item is available as soon as its line end has arrived.
///
/// ```swift
/// var decoder = NativeLineDecoder(name: "orders")
/// decoder.append(bytes.span)  // as often as bytes come
/// while let item = decoder.next() { print(item) }  // as fast as the program takes items
/// decoder.finish(into: &items)  // once: a last line may lack its line end
/// ```
///
/// Messages of a queue hold whole lines, which need no line end: `append(message:)` takes them. `decode(_:into:)` and `decode(message:into:)` append
/// all items of their bytes to an array, which is simpler if the bytes are few or trusted.
///
/// Any bytes may be passed: a line that is not an event gives a rejection with the line's number, from 1, and the decoder continues with the lines
/// after it. An item takes a few hundred bytes, although a broken line may have a single byte. An array of items may therefore be a hundred times as
/// large as hostile bytes, while `next()` makes one item at a time. Between the calls, a decoder keeps the appended bytes until the first append
/// after their last line was taken, and otherwise at most two chunks and one line. It reads a line in time proportional to its length. Equal bytes
/// give equal items, in whatever chunks they come.
///
/// Each source needs a decoder of its own, used in one thread at a time, for instance in an actor or a task: a decoder is not `Sendable`, because its
/// copies share a parser and the names of unknown members that a notice has reported.
public struct NativeLineDecoder {
    private let name: String
    private let reader = NativeEventReader()
    private var lines: LineSplitter
    private let unknown = UnknownMembers()
    /// Item that follows the notice about its line.
    private var delayed: FeedItem?

    /// Creates a decoder that has read nothing.
    ///
    /// - Parameters:
    ///   - name: name of the source in rejections and notices, `name:line`.
    ///   - lineSizeMax: maximum size of a line, 1 to 2^30 bytes; a longer one is rejected.
    public init(name: String = "-", lineSizeMax: ByteCount = FeedOptions.lineSizeMaxDefault) {
        self.name = name
        lines = LineSplitter(lineSizeMax: FeedOptions.bounded(lineSizeMax), chunkSize: .kibibytes(64))
    }

    // MARK: - Items one at a time

    /// Takes bytes; `next()` returns their items.
    ///
    /// - Parameter bytes: a piece of the stream, cut anywhere. The decoder copies it, and keeps it until its lines have been taken.
    /// - Complexity: O(n + m), n being the bytes and m the bytes that were appended before and not taken.
    public mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let taken = unsafe fill(from: UnsafeRawBufferPointer(rebasing: rest))
                unsafe rest = rest.dropFirst(taken)
            }
        }
    }

    /// Takes a message that holds one line or several, whether or not a line end closes the last one; `next()` returns its items. Earlier bytes that
    /// completed no line are the beginning of the first line.
    ///
    /// - Parameter message: whole lines. The decoder copies them, and keeps them until they have been taken.
    /// - Complexity: O(n + m), n being the bytes and m the bytes that were appended before and not taken.
    public mutating func append(message: Span<UInt8>) {
        append(message)
        guard message.isEmpty || message[message.count - 1] != UInt8(ascii: "\n") else { return }
        let lineEnd = [UInt8(ascii: "\n")]
        append(lineEnd.span)
    }

    /// Returns the next item of the appended bytes; `nil` if all their complete lines have been taken. A notice about a line precedes the line's
    /// event.
    ///
    /// - Complexity: O(n), n being the size of the lines up to the item's.
    public mutating func next() -> FeedItem? { nextItem() }

    // MARK: - All items at once

    /// Appends the items of the lines that these bytes complete.
    package mutating func decode(_ bytes: UnsafeRawBufferPointer, into items: inout [FeedItem]) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let taken = unsafe fill(from: UnsafeRawBufferPointer(rebasing: rest))
            unsafe rest = rest.dropFirst(taken)
            while let item = nextItem() { items.append(item) }
        }
    }

    /// Appends the items of the lines that these bytes complete, as `decode(_:into:)` does for an array of bytes.
    ///
    /// - Parameters:
    ///   - bytes: a piece of the stream, cut anywhere.
    ///   - items: array that receives the new items at its end.
    /// - Complexity: O(n), n being the bytes and those of an earlier line that they complete.
    public mutating func decode(_ bytes: Span<UInt8>, into items: inout [FeedItem]) {
        unsafe bytes.withUnsafeBytes { unsafe decode($0, into: &items) }
    }

    /// Appends the items of the lines that these bytes complete, in the order of the lines: none, one or two per line, because a notice about a line
    /// precedes its event.
    ///
    /// - Parameters:
    ///   - bytes: a piece of the stream, cut anywhere.
    ///   - items: array that receives the new items at its end.
    /// - Complexity: O(n), n being the bytes and those of an earlier line that they complete.
    public mutating func decode(_ bytes: [UInt8], into items: inout [FeedItem]) {
        unsafe bytes.withUnsafeBytes { unsafe decode($0, into: &items) }
    }

    /// Appends the items of a message that holds one line or several, whether or not a line end closes the last one. Earlier bytes that completed no
    /// line are the beginning of the first line.
    ///
    /// - Parameters:
    ///   - message: whole lines.
    ///   - items: array that receives the new items at its end.
    /// - Complexity: O(n), n being the bytes and those of an earlier line that they complete.
    public mutating func decode(message: [UInt8], into items: inout [FeedItem]) {
        decode(message, into: &items)
        if message.last != UInt8(ascii: "\n") { decode([UInt8(ascii: "\n")], into: &items) }
    }

    /// Appends the items of a last line without a line end. No bytes may follow.
    ///
    /// - Parameter items: array that receives the new items at its end.
    /// - Complexity: O(n), n being the bytes that were appended and not taken.
    public mutating func finish(into items: inout [FeedItem]) {
        // Lines that were appended and not taken precede the last one.
        while let item = nextItem() { items.append(item) }
        while let item = lastItem() { items.append(item) }
    }

    /// Returns the item of the next whole line that has arrived. Blank lines have none.
    @inline(__always)
    mutating func nextItem() -> FeedItem? {
        if delayed != nil { return delayed.take() }
        while let cut = lines.next() {
            if let item = item(cut) { return item }
        }
        return nil
    }

    /// Returns the items of a last line without a line end, one per call; `nil` at the end.
    mutating func lastItem() -> FeedItem? {
        if delayed != nil { return delayed.take() }
        return lines.finish().flatMap { item($0, truncated: true) }
    }

    /// Copies as many of the bytes as there is room for in a chunk, and returns their number.
    private mutating func fill(from bytes: UnsafeRawBufferPointer) -> Int {
        unsafe lines.fill { space in
            let count = min(space.count, bytes.count)
            unsafe space.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
            return count
        }
    }

    mutating func fill(from file: ByteFile) throws(FeedError) -> Int {
        try unsafe lines.fill { (space) throws(FeedError) in try unsafe file.read(into: space) }
    }

    @inline(__always)
    private mutating func item(_ cut: LineSplitter.Cut, truncated: Bool = false) -> FeedItem? {
        let item = read(cut, truncated: truncated)
        guard let notice = unknown.takeNotice() else { return item }
        delayed = item
        let number =
            switch cut {
            case .overlong(let number), .line(_, let number): number
            }
        return .noticed(FeedNotice(location: "\(name):\(number)", text: notice))
    }

    // Not mutating, which would copy the lines.
    @inline(__always)
    private func read(_ cut: LineSplitter.Cut, truncated: Bool) -> FeedItem? {
        switch cut {
        case .overlong(let number):
            return .rejected(
                FeedRejection(location: "\(name):\(number)", reason: "the line is longer than \(lines.lineSizeMax)")
            )
        case .line(let range, let number):
            return unsafe lines.withBytes(of: range) { line in
                let line = unsafe NativeLineDecoder.trimmed(line, first: number == 1)
                if unsafe line.isEmpty { return nil }
                do throws(NativeEventReader.Failure) {
                    return unsafe .event(try reader.read(line, unknown: unknown))
                } catch {
                    let reason = truncated ? "\(error.reason) (the input ends within this line)" : error.reason
                    return .rejected(
                        FeedRejection(location: "\(name):\(number)", reason: reason, topic: error.topic, at: error.at))
                }
            }
        }
    }

    /// Returns the line without leading white space, and without the byte order mark that some editors put before the first line.
    private static func trimmed(_ line: UnsafeRawBufferPointer, first: Bool) -> UnsafeRawBufferPointer {
        var line = unsafe line[...]
        if first, unsafe line.starts(with: [0xEF, 0xBB, 0xBF]) { unsafe line = unsafe line.dropFirst(3) }
        unsafe line = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return unsafe UnsafeRawBufferPointer(rebasing: line)
    }
}

/// Decoder for a native file, read in chunks, so the size of the file does not matter.
struct NativeFileDecoder: FeedDecoder {
    private let file: ByteFile
    private var lines: NativeLineDecoder
    private var ended = false

    init(path: String, lineSizeMax: ByteCount) throws(FeedError) {
        file = try ByteFile(path: path)
        lines = NativeLineDecoder(name: path, lineSizeMax: lineSizeMax)
    }

    mutating func next() -> FeedItem? {
        while true {
            if let item = ended ? lines.lastItem() : lines.nextItem() { return item }
            if ended { return nil }
            do throws(FeedError) {
                if try lines.fill(from: file) > 0 { continue }
            } catch {
                // Discards the incomplete last line.
                lines = NativeLineDecoder(name: error.path)
                ended = true
                return .rejected(FeedRejection(location: error.path, reason: error.reason))
            }
            ended = true
        }
    }
}
