/// Puts a frame together that arrives in several reads. Its owner reads all other frames where they lie, so it calls the reader a few
/// times per read and not per frame:
///
///     if frames.isInsideFrame {
///         guard let header = frames.header(from: input, &position) else { return }
///         try check(header)
///         guard let frame = frames.frame(header, from: input, &position) else { return }
///         try process(header, frame.span.extracting(FrameHeader.count..<frame.count))
///         frames.giveBack(consume frame)
///     }
///
/// The owner checks each header before it asks for the frame, which bounds the reader's memory.
package struct FrameReader {
    /// Beginning of a frame whose rest has not arrived.
    private var partial: [UInt8] = []

    package init() {}

    /// Is `true` while the beginning of a frame waits for its rest.
    package var isInsideFrame: Bool { !partial.isEmpty }

    /// Takes the bytes from `input` that the partial frame's header lacks.
    ///
    /// - Returns: `nil` if the header is still incomplete; all of `input` is taken then.
    package mutating func header(from input: Span<UInt8>, _ position: inout Int) -> FrameHeader? {
        fill(to: FrameHeader.count, from: input, &position)
        return partial.count < FrameHeader.count ? nil : FrameHeader(partial.span)
    }

    /// Takes the bytes from `input` that the partial frame lacks, and moves the complete frame out, so that the owner may change while
    /// it reads the frame.
    ///
    /// - Parameter header: the partial frame's.
    /// - Returns: `nil` if the frame is still incomplete; all of `input` is taken then.
    package mutating func frame(
        _ header: FrameHeader, from input: Span<UInt8>, _ position: inout Int
    ) -> [UInt8]? {
        let needed = FrameHeader.count + header.length
        fill(to: needed, from: input, &position)
        guard partial.count == needed else { return nil }
        var frame: [UInt8] = []
        swap(&frame, &partial)
        return frame
    }

    /// Takes back the memory of a frame that its owner has read.
    package mutating func giveBack(_ frame: consuming [UInt8]) {
        partial = frame
        partial.removeAll(keepingCapacity: true)
    }

    /// Keeps the beginning of a frame whose rest has not arrived.
    package mutating func keep(_ beginning: Span<UInt8>) { partial.append(beginning) }

    private mutating func fill(to needed: Int, from input: Span<UInt8>, _ position: inout Int) {
        let count = min(needed - partial.count, input.count - position)
        guard count > 0 else { return }
        partial.append(input.extracting(position..<position + count))
        position += count
    }
}
