import FanfareHTTP2
import Testing

@Suite struct FrameReaderTests {
    /// A frame of stream 5 with three bytes of content.
    private let frame: [UInt8] = [0, 0, 3, FrameType.data, 0, 0, 0, 0, 5, 1, 2, 3]

    /// Gives the reader one read's bytes.
    private func read(
        _ piece: ArraySlice<UInt8>, with reader: inout FrameReader
    ) -> (header: FrameHeader?, frame: [UInt8]?, taken: Int) {
        let bytes = Array(piece)
        var position = 0
        guard let header = reader.header(from: bytes.span, &position) else { return (nil, nil, position) }
        let frame = reader.frame(header, from: bytes.span, &position)
        return (header, frame, position)
    }

    private func makeReader(inside beginning: ArraySlice<UInt8>) -> FrameReader {
        var reader = FrameReader()
        let bytes = Array(beginning)
        reader.keep(bytes.span)
        return reader
    }

    @Test func aFrameInAnyThreePiecesIsPutTogether() {
        for first in 1..<frame.count {
            for second in first..<frame.count {
                var reader = makeReader(inside: frame[..<first])
                let middle = read(frame[first..<second], with: &reader)
                let end = read(frame[second...], with: &reader)
                #expect(middle.frame == nil && middle.taken == second - first)
                #expect(end.frame == frame && end.taken == frame.count - second)
                #expect(end.header?.stream == 5 && end.header?.length == 3)
                #expect(!reader.isInsideFrame)
            }
        }
    }

    @Test func aHeaderIsKnownBeforeItsContentHasArrived() {
        var reader = makeReader(inside: frame[..<8])
        let before = read([], with: &reader)
        #expect(before.header == nil && reader.isInsideFrame)
        let after = read(frame[8..<9], with: &reader)
        #expect(after.header?.length == 3 && after.frame == nil && reader.isInsideFrame)
    }

    @Test func theReaderLeavesBytesBehindTheFrame() {
        let two = frame + frame
        for first in 1..<frame.count {
            var reader = makeReader(inside: two[..<first])
            let end = read(two[first...], with: &reader)
            #expect(end.frame == frame && end.taken == frame.count - first)
        }
    }

    @Test func aFrameWithoutContentIsItsHeader() {
        let empty: [UInt8] = [0, 0, 0, FrameType.settings, FrameFlag.acknowledgement, 0, 0, 0, 0]
        let two = empty + empty
        var reader = makeReader(inside: two[..<4])
        let end = read(two[4...], with: &reader)
        #expect(end.frame == empty && end.taken == 5)
    }

    @Test func theReaderIsUsableAgainOnceItHasTheFrameBack() throws {
        var reader = FrameReader()
        for _ in 0..<3 {
            let beginning = Array(frame[..<10])
            reader.keep(beginning.span)
            let end = read(frame[10...], with: &reader)
            let found = try #require(end.frame)
            #expect(found == frame)
            reader.giveBack(found)
            #expect(!reader.isInsideFrame)
        }
    }
}
