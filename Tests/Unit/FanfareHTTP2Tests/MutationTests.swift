import FanfareModel
import HTTP2TestSupport
import Testing

@testable import FanfareHTTP2

/// Conversations of a sane server, damaged at random: the session must survive, stay bounded, and account for every
/// request exactly once.
@Suite struct MutationTests {
    static let seeds: [UInt64] = Array(1...10)

    /// 10 seeds of 10,000 damaged conversations.
    @Test(arguments: seeds) func damagedConversationsNeverCrash(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for round in 0..<10_000 {
            var bytes = MutationTests.conversation(&random)
            for _ in 0..<Int.random(in: 0...4, using: &random) { MutationTests.damage(&bytes, &random) }
            var configuration = ClientSession.Configuration()
            configuration.streamsMax = 4
            configuration.decoderTableSize = [0, 100, 4096, 8192][Int(random.next() % 4)]
            configuration.encoderTableSize = [0, 64, 4096][Int(random.next() % 3)]
            configuration.bodyMax = 50
            let c = Connection(configuration, greeted: false)
            var ended: [UInt64: Int] = [:]
            var accepted: UInt64 = 0
            func account() {
                for event in c.events() {
                    switch event {
                    case .response(let response): ended[response.tag, default: 0] += 1
                    case .notProcessed(let tag): ended[tag, default: 0] += 1
                    case .lost(let tag, _): ended[tag, default: 0] += 1
                    default: break
                    }
                }
            }
            var position = 0
            while position < bytes.count {
                if c.request(accepted, body: [UInt8](repeating: 7, count: Int(random.next() % 300))) { accepted += 1 }
                let count = min(Int.random(in: 1...200, using: &random), bytes.count - position)
                c.receive(Array(bytes[position..<position + count]))
                position += count
                c.session.take(Int(random.next() % UInt64(c.session.outputCount + 1)))
                account()
            }
            c.session.connectionLost()
            account()
            let once = ended.count == Int(accepted) && ended.values.allSatisfy { $0 == 1 }
            #expect(once, "seed \(seed), round \(round): \(accepted) accepted, ended \(ended)")
        }
    }

    /// Noise from the first byte on.
    @Test(arguments: seeds) func noiseNeverCrashesTheHeaderDecoder(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var decoder = HeaderDecoder(tableCapacity: 4096, listLimit: 16_384)
        for _ in 0..<5000 {
            let block = random.bytes(Int.random(in: 0...60, using: &random))
            try? decoder.decode(block.span)
            #expect(decoder.table.size <= 4096 && decoder.list.bytes.count <= 16_384)
        }
    }

    static func conversation(_ random: inout SplitMix64) -> [UInt8] {
        var bytes = settings([(3, 3), (4, UInt32.random(in: 0...400, using: &random))])
        var stream: UInt32 = 1
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            switch random.next() % 12 {
            case 0: bytes += frame(FrameType.settings, flags: 1)
            case 1: bytes += settings([(1, UInt32(random.next() % 5000)), (4, UInt32(random.next() % 1000))])
            case 2: bytes += frame(FrameType.ping, random.bytes(8))
            case 3: bytes += windowUpdate(UInt32(random.next() % 8), UInt32(random.next() % 1000) + 1)
            case 4: bytes += frame(FrameType.resetStream, stream: stream, big(UInt32(random.next() % 14)))
            case 5: bytes += frame(FrameType.goAway, big(UInt32(random.next() % 9)) + big(0) + random.bytes(5))
            case 6:
                bytes += headers(stream, status: "410", end: false)
                bytes += data(stream, random.bytes(Int.random(in: 0...80, using: &random)))
                stream += 2
            case 7:
                bytes += frame(FrameType.headers, flags: 1, stream: stream, [0x88])
                bytes += frame(
                    FrameType.continuation, flags: 4, stream: stream, [0x40, 1, 0x61, 1] + random.bytes(1))
                stream += 2
            case 8: bytes += frame(UInt8(random.next() % 16), random.bytes(Int.random(in: 0...20, using: &random)))
            default:
                // Indexed from the table that earlier blocks have filled, or perhaps not.
                bytes += frame(FrameType.headers, flags: 5, stream: stream, [0x88, 0xbe])
                stream += 2
            }
        }
        return bytes
    }

    static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch random.next() % 4 {
        case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes[at] ^= 1 << UInt8(random.next() % 8)
        case 2: bytes.remove(at: at)
        default: bytes.insert(contentsOf: random.bytes(Int.random(in: 1...9, using: &random)), at: at)
        }
    }
}
