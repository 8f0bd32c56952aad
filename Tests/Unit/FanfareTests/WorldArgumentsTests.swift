import FanfareTestSupport
import Testing

@Suite struct WorldArgumentsTests {
    private static let options = WorldProgram.Options(
        numbers: ["--seed", "--seeds"], switches: ["--tell"], names: ["--kind": ["ends", "starts"]])

    private static func fault(_ arguments: String...) -> String? {
        do throws(WorldArguments.Fault) {
            _ = try WorldArguments(arguments, options)
            return nil
        } catch {
            return error.text
        }
    }

    @Test func argumentsAreNumbersSwitchesAndNames() throws {
        let arguments = try WorldArguments(
            ["--seed", "7", "--tell", "--kind", "ends", "--seeds", "3", "--kind", "starts"], Self.options)
        #expect(arguments.number("--seed") == 7 && arguments.seeds == 7..<10)
        #expect(arguments.has("--tell") && arguments.names("--kind") == ["ends", "starts"])
        #expect(!arguments.asksForUsage)
    }

    @Test func fiftySeedsFromTheFirstOneArePlayedUnlessArgumentsSayOtherwise() throws {
        let arguments = try WorldArguments([], Self.options)
        #expect(arguments.seeds == 1..<51 && !arguments.has("--tell") && arguments.names("--kind").isEmpty)
    }

    @Test func nothingBehindAQuestionForTheUsageIsRead() throws {
        let arguments = try WorldArguments(["--help", "--unknown"], Self.options)
        #expect(arguments.asksForUsage)
    }

    @Test func aFaultNamesItsOption() {
        #expect(Self.fault("--unknown") == "unknown option --unknown")
        #expect(Self.fault("--kind", "other") == "--kind needs one of ends, starts")
        #expect(Self.fault("--kind") == "--kind needs one of ends, starts")
        #expect(Self.fault("--seeds", "0") == "--seeds must be at least 1")
        #expect(Self.fault("--seeds", "many") == "--seeds needs a number up to \(1 << 40)")
        #expect(Self.fault("--seed", "0") == nil)
    }
}
