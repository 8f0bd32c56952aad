import Testing

@testable import APNsSimulator

@Suite struct FastPartsTests {
    @Test func tokenCountsAgreeWithADictionary() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = seed
        var counts = TokenCounts()
        var model: [UInt64: Int] = [:]
        for _ in 0..<50 {
            let tokens = (0..<400).map { _ in
                random = mixed(random)
                return random % 9000
            }
            for token in tokens { model[token, default: 0] += 1 }
            counts.count(tokens)
        }
        #expect(counts.tokens == model.count, "seed \(seed)")
        for (token, count) in model { #expect(counts[token] == count, "seed \(seed)") }
        #expect(counts[9001] == 0 && counts.range == (model.values.min() ?? 0)...(model.values.max() ?? 0))
        #expect(TokenCounts().range == nil)
    }

    @Test func openRequestsAreTakenByTheirStreamsOnce() {
        var requests = OpenRequests()
        for stream: UInt32 in [1, 3, 5] { requests.put(FastRequest(stream: stream, token: 0, refusal: nil)) }
        let count = requests.count
        let streams = [UInt32(3), 5, 7, 1, 3].map { requests.take($0)?.stream }
        #expect(count == 3 && streams == [3, 5, nil, 1, nil] && requests.count == 0)
    }

    /// Every length, and every byte in every place, with a simple implementation as the model.
    @Test func hexIsReadInBothCasesAndNothingElseIs() {
        var space = [UInt8](repeating: 0, count: DevicePath.tokenBytesMax)
        func read(_ digits: [UInt8]) -> DevicePath {
            (Array("/3/device/".utf8) + digits).withUnsafeBytes { DevicePath.read($0, into: &space) }
        }
        let alphabet = Array("0123456789abcdefABCDEF".utf8)
        for count in 1...1032 {
            let digits = (0..<count).map { alphabet[($0 * 7 + count) % alphabet.count] }
            guard count % 2 == 0, count <= 2 * 512 else {
                #expect(read(digits) == .badToken)
                continue
            }
            #expect(read(digits) == .device(tokenBytes: count / 2))
            let values = digits.map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0) }
            #expect(
                space.prefix(count / 2).elementsEqual((0..<count / 2).map { values[2 * $0] << 4 | values[2 * $0 + 1] }))
        }
        for count in [2, 8, 18] {
            for place in 0..<count {
                for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
                    var digits = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                    digits[place] = byte
                    #expect(read(digits) == .badToken)
                }
            }
        }
    }

    @Test func fastModeRefusesOptionsThatOnlyTheStrictModeKnows() throws {
        let needed = ["--mode", "fast", "--cert", "c", "--key", "k"]
        let options = try SimulatorOptions(
            arguments: needed + [
                "--latency", "50", "--max-streams", "9", "--dead-share", "0.1", "--seed", "4", "--window", "65535",
            ])
        #expect(options.fastWindow == 65_535)
        #expect(options.mode == .fast && options.latency == .even(50...50) && options.streams.first == 9)
        for arguments in [
            ["--dump", "d"], ["--public-key", "p"], ["--error-share", "0.1"], ["--goaway-every", "5"],
            ["--latency", "5..9"], ["--latency", "5~9"], ["--max-streams", "9,1@5"], ["--window", "100000,70000@5"],
            ["--window", "65534"],
        ] {
            let error = #expect(throws: UsageError.self) { try SimulatorOptions(arguments: needed + arguments) }
            #expect(error?.description.hasPrefix(arguments[0]) == true)
            #expect(error?.description.contains("--mode fast") == true)
        }
        let missing = #expect(throws: UsageError.self) { try SimulatorOptions(arguments: ["--mode", "fast"]) }
        #expect(missing?.description == "--cert is missing")
        #expect(throws: UsageError.self) { try SimulatorOptions(arguments: ["--mode", "quick"]) }
    }
}
