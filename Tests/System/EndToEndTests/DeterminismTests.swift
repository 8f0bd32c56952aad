import Foundation
import Testing

/// A feed gives one decision log, byte for byte, at any speed, with any number of shards, and with any trouble of
/// the network.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(10)))
struct DeterminismTests {
    private func log(_ feed: TestFeed, _ options: [String], in folder: Folder) throws -> Data {
        let file = folder("decisions-\(UUID().uuidString).ndjson")
        let end = try Program.run(
            .fanfare,
            ["replay"] + feed.paths(in: folder) + ["--subscribers", "2000", "--decisions", file] + options,
            folder: folder, within: 300)
        guard end.status == 0 else { throw Failure("\(options): status \(end.status): \(end.errors)") }
        return try Data(contentsOf: URL(fileURLWithPath: file))
    }

    @Test(arguments: TestFeed.available)
    func speedAndShardsLeaveNoTrace(feed: TestFeed) throws {
        let folder = try Folder()
        let reference = try log(feed, ["--speed", "max", "--shards", "1"], in: folder)
        #expect(reference.count { $0 == UInt8(ascii: "\n") } > 1000)
        for options in [
            ["--speed", "max", "--shards", "2"], ["--speed", "3000", "--shards", "1"],
            ["--speed", "3000", "--shards", "2", "--max-gap", "5"],
        ] {
            #expect(try log(feed, options, in: folder) == reference, "\(options)")
        }
    }

    @Test(arguments: TestFeed.available)
    func aFailingNetworkLeavesNoTrace(feed: TestFeed) throws {
        let folder = try Folder()
        let reference = try log(feed, ["--speed", "max"], in: folder)
        let simulator = try Simulator(Simulator.trouble, folder: folder)
        #expect(try log(feed, ["--speed", "3000"] + simulator.options(), in: folder) == reference)
        _ = try simulator.dump()
    }

    /// The network never takes a push, and the replay finally gives up: the log is complete all the same.
    @Test func noNetworkAtAllLeavesNoTrace() throws {
        let folder = try Folder()
        let reference = try log(.matchDay, ["--speed", "max"], in: folder)
        let simulator = try Simulator(folder: folder)
        let options = try simulator.options()
        _ = try simulator.dump()
        let file = folder("decisions.ndjson")
        let end = try Program.run(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder) + [
                "--subscribers", "10", "--decisions", file, "--patience", "2",
            ]
                + options,
            folder: folder)
        #expect(end.status == 1)
        #expect(end.errors.contains(simulator.address), "\(end.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == reference)
    }
}
