import FanfareDecisions
import FanfareLog
import FanfareModel
import FanfareTestSupport

@testable import CrashSimulation
@testable import Fanfare

/// Judge of checkpoints: a core that begins with one knows, behind the last durable entry, what one knows that has decided all entries.
struct RestartJudge {
    /// Makes a core that has decided nothing.
    let makeCore: () -> EngineCore

    /// - Parameter head: head of the newest checkpoint.
    /// - Returns: the fault of a restart from that checkpoint; `nil` if there is none.
    func seen(_ head: CheckpointHead, of disk: ManualDisk) -> String? {
        let (whole, short) = (makeCore(), makeCore())
        for core in [whole, short] { core.beginRecall() }
        for entry in disk.durable { whole.apply(entry) }
        do {
            try disk.log.checkpoints.read(at: head.position) { (row) throws(LogError) in
                do throws(SerialError) { try short.restore(row) } catch { throw LogError("\(error)", .damaged) }
            }
            try short.endRestoring()
        } catch { return "the checkpoint of entry \(head.position) cannot be read: \(error)" }
        let last = disk.durable[Int(head.position) - 1]
        if head.checksum != last.checksum(at: head.position) {
            return "the checkpoint of entry \(head.position) is of another"
        }
        for entry in disk.durable[Int(head.position)...] { short.apply(entry) }
        guard Self.memory(of: whole) != Self.memory(of: short) else { return nil }
        return "a restart from the checkpoint of entry \(head.position) of \(disk.durable.count) knows something else"
    }

    private static func memory(of core: EngineCore) -> [[UInt8]] {
        let own = core.beginCheckpoint()
        core.continueCheckpoint(upTo: .max)
        defer { core.endCheckpoint() }
        return ([own] + core.takeCheckpointRows()).sorted { $0.lexicographicallyPrecedes($1) }
    }
}
