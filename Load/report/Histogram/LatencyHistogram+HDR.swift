import Foundation
package import Laboratory

/// A text that is not an encoded histogram, and why.
package struct HDRError: Error, Hashable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

/// HdrHistogram's V2 encoding, which its own tools read: base64 of a cookie, a length and a zlib stream. The stream has a header of
/// 40 bytes and the counts up to the last one that is not zero, each a ZigZag LEB128 number of at most nine bytes; a negative number
/// stands for so many zeros. All other numbers are big-endian.
extension LatencyHistogram {
    private static let encodingCookie: Int32 = 0x1c84_9313
    private static let compressionCookie: Int32 = 0x1c84_9314
    private static let headerBytes = 40
    /// The header and nine bytes for each count.
    private static let streamBytesMax = headerBytes + 9 * countsLength
    private static let encodedBytesMax = 2 * streamBytesMax

    package func hdrEncoded() -> String {
        var payload = ByteOutput()
        let used = counts[..<(counts.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)]
        var zeros: Int64 = 0
        for times in used {
            guard times > 0 else {
                zeros += 1
                continue
            }
            if zeros > 0 { payload.zigZag(-zeros) }
            zeros = 0
            payload.zigZag(times)
        }
        var stream = ByteOutput()
        stream.number(LatencyHistogram.encodingCookie)
        stream.number(Int32(payload.bytes.count))
        // Index offset: a rotated array of counts, which ours never is.
        stream.number(Int32(0))
        stream.number(Int32(LatencyHistogram.significantDigits))
        stream.number(LatencyHistogram.lowest)
        stream.number(LatencyHistogram.highest)
        // Values are integers as they are: the ratio is 1.
        stream.number(Int64(bitPattern: 1.0.bitPattern))
        stream.bytes += payload.bytes

        let packed = Zlib.compress(stream.bytes)
        var whole = ByteOutput()
        whole.number(LatencyHistogram.compressionCookie)
        whole.number(Int32(packed.count))
        return Data(whole.bytes + packed).base64EncodedString()
    }

    /// Reads an encoded histogram of this geometry. The encoding has no exact values, so `min` and `max` become
    /// the greatest values that their counts may stand for.
    package init(hdrEncoded text: String) throws(HDRError) {
        guard text.utf8.count <= LatencyHistogram.encodedBytesMax else {
            throw HDRError("the text is too long for a histogram")
        }
        guard let data = Data(base64Encoded: text) else { throw HDRError("the text is not base64") }
        var whole = ByteInput(Array(data))
        guard whole.number(Int32.self) == LatencyHistogram.compressionCookie else {
            throw HDRError("the text is not a compressed histogram of version 2")
        }
        guard let length = whole.number(Int32.self), Int(length) == whole.rest.count else {
            throw HDRError("the histogram is cut off")
        }
        guard let bytes = Zlib.uncompress(Array(whole.rest), bytesMax: LatencyHistogram.streamBytesMax) else {
            throw HDRError("the compressed bytes are damaged, or too many")
        }
        var stream = ByteInput(bytes)
        guard stream.number(Int32.self) == LatencyHistogram.encodingCookie else {
            throw HDRError("the bytes are not a histogram of version 2")
        }
        let payloadBytes = stream.number(Int32.self)
        let offset = stream.number(Int32.self)
        let digits = stream.number(Int32.self)
        let lowest = stream.number(Int64.self)
        let highest = stream.number(Int64.self)
        guard stream.number(Int64.self) != nil, payloadBytes.map(Int.init) == stream.rest.count else {
            throw HDRError("the histogram is cut off")
        }
        guard digits == Int32(LatencyHistogram.significantDigits), lowest == LatencyHistogram.lowest, offset == 0,
            let highest, 2...LatencyHistogram.highest ~= highest
        else { throw HDRError("the histogram has another geometry than 1 µs to an hour with three digits") }
        self.init()
        try addCounts(&stream)
    }

    private mutating func addCounts(_ stream: inout ByteInput) throws(HDRError) {
        var index = 0
        while !stream.rest.isEmpty {
            guard let number = stream.zigZag() else { throw HDRError("a count is cut off") }
            guard number > -Int64(LatencyHistogram.countsLength), number <= 1 << 48 else {
                throw HDRError("a count of the histogram is too large")
            }
            guard number > 0 else {
                index += number == 0 ? 1 : Int(-number)
                continue
            }
            guard index < LatencyHistogram.countsLength else { throw HDRError("the histogram has too many counts") }
            record(LatencyHistogram.last(of: index), times: Int(number))
            index += 1
        }
    }
}
