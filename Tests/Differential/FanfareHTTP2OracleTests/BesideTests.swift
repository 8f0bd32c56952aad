import FanfareModel
import FuzzSubjects
import Testing

/// Servers made of a seed, sane and damaged: our session and nghttp2's client must take them alike.
@Suite struct BesideTests {
    static let seeds: [UInt64] = Array(1...6)

    @Test(arguments: seeds) func sessionAndNghttp2AgreeOnRandomFrames(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for round in 0..<2500 {
            let frames = BesideTests.conversation(&random)
            if let text = Beside.disagreement(over: frames) {
                Issue.record(
                    "seed \(seed), round \(round): \(text)\n\(frames.map(\.description).joined(separator: "\n"))")
            }
        }
    }

    private static func conversation(_ random: inout SplitMix64) -> [Beside.Frame] {
        var frames = [Beside.Frame(type: 4, [0, 3, 0, 0, 0, 100])]
        // Streams that have an answer to go on with; to the others DATA would end most conversations early.
        var answered: Set<UInt32> = []
        for _ in 0..<Int.random(in: 1...10, using: &random) {
            let stream = [1, 3, 5, 7, 7, 9][Int.random(in: 0...5, using: &random)] as UInt32
            var frame = sane(stream, &random)
            if frame.type == 0, !answered.contains(stream), random.chance(0.9) { continue }
            if frame.type == 1 { answered.insert(stream) }
            if random.chance(0.25) { damage(&frame, &random) }
            frames.append(frame)
            if random.chance(0.03) { frames.append(frame) }
        }
        return frames
    }

    private static func sane(_ stream: UInt32, _ random: inout SplitMix64) -> Beside.Frame {
        switch random.next() % 16 {
        case 0: return Beside.Frame(type: 4, flags: 1)
        case 1: return Beside.Frame(type: 4, setting(&random) + (random.chance(0.3) ? setting(&random) : []))
        case 2: return Beside.Frame(type: 6, flags: UInt8(random.next() % 2), bytes(8, &random))
        case 3:
            return Beside.Frame(
                type: 8, stream: random.chance(0.5) ? 0 : stream, big(UInt32.random(in: 1...100_000, using: &random)))
        case 4: return Beside.Frame(type: 3, stream: stream, big(UInt32(random.next() % 14)))
        case 5:
            let last = [0, 1, 3, 7, 0x7fff_ffff][Int(random.next() % 5)] as UInt32
            return Beside.Frame(
                type: 7, big(last) + big(UInt32(random.next() % 3)) + bytes(Int(random.next() % 4), &random))
        case 6, 7:
            let isPadded = random.chance(0.3)
            let content = bytes(Int.random(in: 0...40, using: &random), &random)
            return Beside.Frame(
                type: 0, flags: (random.chance(0.6) ? 1 : 0) | (isPadded ? 8 : 0), stream: stream,
                isPadded ? [3] + content + [0, 0, 0] : content)
        case 8: return Beside.Frame(type: 2, stream: stream, bytes(5, &random))
        case 9:
            return Beside.Frame(
                type: 1, flags: random.chance(0.5) ? 5 : 4, stream: stream, block(&random) + block(&random))
        case 10: return Beside.Frame(type: 9, flags: 4, stream: stream, block(&random))
        case 11: return Beside.Frame(type: 1, flags: UInt8(random.next() % 2), stream: stream, [0x88])
        default:
            // At most one content-length, and not in an interim answer: there nghttp2 is harder than it need be.
            let length: [UInt8] = random.chance(0.3) ? [0x0f, 0x0d, 1, 0x30 + UInt8(random.next() % 4)] : []
            return Beside.Frame(
                type: 1, flags: random.chance(0.6) ? 5 : 4, stream: stream, [status(&random)] + length + block(&random))
        }
    }

    private static func status(_ random: inout SplitMix64) -> UInt8 {
        // 200, 206, 400, 404, 500 of the static table. Not 204 and 304, which have rules of their own about content-length
        // and never answer a POST to APNs.
        [0x88, 0x88, 0x8a, 0x8c, 0x8d, 0x8e][Int(random.next() % 6)]
    }

    /// Header fields of all representations, from tables that earlier blocks have filled or not.
    private static func block(_ random: inout SplitMix64) -> [UInt8] {
        var block: [UInt8] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            switch random.next() % 10 {
            case 0: block += [0xbe]
            case 1: block += [0xbf]
            case 2: block += [0x0f, 0x00, 1, 0x62]
            case 3: block += [0x40, 1, 0x61 + UInt8(random.next() % 26), 1, 0x20 + UInt8(random.next() % 90)]
            case 4: block += [0x00, 2, 0x78, 0x2d, 0]
            case 5: block += [0x10, 1, 0x61, 2, 0x62, 0x63]
            case 6: block += [0x7f, 0x00, 1, 0x61]  // name from the dynamic table's second entry
            case 7: block += [0x20 | UInt8(random.next() % 32)]  // a size update
            case 8: block += [0x48, 3, 0x31, 0x30, 0x33]  // :status 103
            default: block += [0x5f, 0x1d, 2, 0x61, 0x62]
            }
        }
        return block
    }

    private static func setting(_ random: inout SplitMix64) -> [UInt8] {
        let values: [UInt32] = [0, 1, 2, 100, 4096, 16_384, 65_535, 0xff_ffff, 0x7fff_ffff, 0x8000_0000]
        return [0, UInt8(random.next() % 8)] + big(values[Int(random.next() % 10)])
    }

    private static func damage(_ frame: inout Beside.Frame, _ random: inout SplitMix64) {
        switch random.next() % 7 {
        case 0: frame.type = UInt8(random.next() % 12)
        case 1: frame.flags ^= 1 << UInt8(random.next() % 8)
        case 2: frame.stream = UInt32(random.next() % 12)
        case 3 where !frame.payload.isEmpty:
            frame.payload.removeLast(Int.random(in: 1...frame.payload.count, using: &random))
        case 4: frame.payload += bytes(Int.random(in: 1...5, using: &random), &random)
        case _ where !frame.payload.isEmpty:
            let at = Int.random(in: 0..<frame.payload.count, using: &random)
            frame.payload[at] = UInt8(truncatingIfNeeded: random.next())
        default: break
        }
    }

    private static func bytes(_ count: Int, _ random: inout SplitMix64) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }
}
