import Foundation
import Testing

@testable import APNsSimulator

/// The built program in its fast mode, with clients that share no code with it.
@Suite(.serialized) struct FastWireTests {
    private static let h2load = "/usr/bin/h2load"
    private static let nghttp = "/usr/bin/nghttp"
    private static let skip: Comment = "nghttp2-client is not installed (apt-get install nghttp2-client)"

    /// Returns a number of the summary.
    private func number(_ key: String, in record: RunningSimulator.Record) -> Int? {
        record.summary.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("\(key)=") }
            .flatMap { Int($0.dropFirst(key.count + 1)) }
    }

    @Test(.enabled(if: Bench.has(h2load), skip)) func h2loadIsAnswered() throws {
        let simulator = try RunningSimulator(isFast: true)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "fanfare-h2load-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let body = folder.appendingPathComponent("body")
        try Data(repeating: 0x20, count: 317).write(to: body)
        let paths = (0..<100).map { "/3/device/" + String(repeating: "00", count: 78) + String(format: "%04x", $0) }
        let list = folder.appendingPathComponent("paths")
        try Data(paths.joined(separator: "\n").utf8).write(to: list)
        let output = try Bench.run(
            FastWireTests.h2load,
            [
                "-n", "3000", "-c", "3", "-m", "100", "-d", body.path, "-H", ":method: POST", "-H",
                "authorization: bearer x",
                "-B", "https://localhost:\(simulator.port)", "-i", list.path,
            ])
        #expect(output.text.contains("3000 succeeded, 0 failed, 0 errored"), "\(output.text) \(output.errors)")
        let record = try simulator.stop()
        #expect(record.status == 0 && record.complaints.isEmpty, "\(record.complaints)")
        #expect(record.summary.hasPrefix("summary requests=3000 accepted=3000 unanswered=0 connections=3 "))
        #expect(number("tokens", in: record) == 100 && number("most_per_token", in: record) == 30)
    }

    @Test(.enabled(if: Bench.has(nghttp) && Bench.has(Bench.curl), skip)) func curlAndNghttpGetApplesAnswers() throws {
        let simulator = try RunningSimulator(["--latency", "20"], isFast: true)
        let good = Request(providerToken: "bearer x")
        #expect(try simulator.curl(good).status == 200)
        for (reason, status, change) in [
            ("MethodNotAllowed", 405, { $0.method = "PUT" }), ("BadDeviceToken", 400, { $0.token = "abc" }),
            ("PayloadEmpty", 400, { $0.body = "" }),
            ("PayloadTooLarge", 413, { $0.body = String(repeating: " ", count: 300_000) }),
        ] as [(String, Int, (inout Request) -> Void)] {
            var request = good
            change(&request)
            let answer = try simulator.curl(request)
            #expect(answer.status == status && answer.body == "{\"reason\":\"\(reason)\"}", "\(reason): \(answer)")
        }
        // The client has a small table and small windows.
        let output = try Bench.run(
            FastWireTests.nghttp,
            [
                "-v", "-n", "-w", "6", "-W", "6", "--header-table-size=0", "--no-verify-peer", "-d", "/dev/null",
                "https://localhost:\(simulator.port)\(good.path)",
            ])
        #expect(output.status == 0 && output.text.contains(":status: 400"), "\(output.text)")
        let record = try simulator.stop()
        #expect(record.status == 0 && record.complaints.isEmpty)
        #expect(record.summary.hasPrefix("summary requests=6 accepted=1 "), "\(record.summary)")
    }

    /// Our client alone, and the C program that sends its bytes: both send the same tokens, each equally often.
    @Test func theBenchmarksClientsSendTheSame() throws {
        let simulator = try RunningSimulator(["--max-streams", "100"], isFast: true)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-load-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let common = ["--port", String(simulator.port), "--key", try Bench.file("apns.p8"), "--activities", "500"]
        let preparation = try Bench.run(Bench.built("apns-load"), ["prepare", "--output", folder.path] + common)
        #expect(preparation.status == 0, "\(preparation.errors)")
        #expect(try Data(contentsOf: folder.appendingPathComponent("body")).count == 317)
        let floor = try Bench.run(
            Bench.built("apns-floor"), [String(simulator.port), folder.path, "1500", "100"])
        #expect(floor.text == "pushes=1500 accepted=1500\n", "\(floor.errors)")
        let load = try Bench.run(
            Bench.built("apns-load"), ["push", "--ca", Bench.file("ca.pem"), "--pushes", "1500"] + common)
        #expect(load.text.hasPrefix("pushes=1500 seconds="), "\(load.errors)")
        let record = try simulator.stop()
        #expect(record.summary.hasPrefix("summary requests=3000 accepted=3000 unanswered=0 connections=2 "))
        // The floor's opening carries the first token once more, and the last token comes once less.
        #expect(number("tokens", in: record) == 500)
        #expect(number("fewest_per_token", in: record) == 5 && number("most_per_token", in: record) == 7)
        #expect(try Bench.run(Bench.built("apns-load"), ["push", "--pushes", "x"]).status == 2)
    }

    /// python-h2 raises an error on any violation of HTTP/2.
    @Test(.enabled(if: Bench.hasPythonH2, WireTests.skipPython)) func aStrictClientFindsNothingWrong() throws {
        let simulator = try RunningSimulator(["--dead-share", "0.5", "--max-streams", "40"], isFast: true)
        let requests = (0..<400).map { index in
            Request(token: String(format: "%08x", index % 200), providerToken: "bearer x", score: index)
        }
        let conversation = try simulator.converse(requests, concurrent: 100, bodiesLast: true)
        #expect((conversation.statuses[200] ?? 0) + (conversation.statuses[410] ?? 0) == 400)
        #expect((conversation.statuses[410] ?? 0) > 100 && (conversation.statuses[200] ?? 0) > 100)
        #expect(
            conversation.answers.prefix(200).map { $0?.status } == conversation.answers.suffix(200).map { $0?.status })
        let record = try simulator.stop()
        #expect(number("accepted", in: record) == conversation.statuses[200])
    }

    @Test(.enabled(if: Bench.has(Bench.curl), WireTests.skipCurl)) func strangersDoNoHarm() throws {
        let simulator = try RunningSimulator(isFast: true)
        let address = "localhost:\(simulator.port)"
        // Plain text, HTTP/1.1 over TLS, and TLS with meaningless bytes.
        #expect(try Bench.run(Bench.curl, ["-s", "http://\(address)/"]).status != 0)
        #expect(try Bench.run(Bench.curl, ["-sk", "--http1.1", "https://\(address)/"]).status != 0)
        _ = try Bench.run(
            "/usr/bin/openssl", ["s_client", "-quiet", "-alpn", "h2", "-connect", address],
            input: String(repeating: "garbage", count: 1000))
        #expect(try simulator.curl(Request(providerToken: "bearer x")).status == 200)
        let record = try simulator.stop()
        #expect(record.status == 0 && number("accepted", in: record) == 1)
        #expect(record.complaints.contains("no HTTP/2 preface"), "\(record.complaints)")
    }
}
