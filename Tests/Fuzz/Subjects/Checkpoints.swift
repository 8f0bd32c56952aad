import FanfareDecisions
import FanfareModel

/// A row of a checkpoint: whatever the bytes are, the decision core refuses the row, or goes on from it, and writes a checkpoint from which
/// another core goes on alike.
func runCheckpoint(_ bytes: [UInt8]) {
    guard let core = restored([bytes]) else { return }
    let written = rows(of: core)
    guard let again = restored(written) else {
        return promise(false, "a checkpoint is refused that was just written")
    }
    promise(rows(of: again) == written, "a checkpoint is read back otherwise")
    promise(log(of: core) == log(of: again), "a core goes on otherwise after a checkpoint")
}

private func restored(_ rows: [[UInt8]]) -> DecisionCore? {
    var core = DecisionCore()
    do throws(SerialError) {
        for row in rows { try core.restore(row) }
        try core.endRestoring()
    } catch { return nil }
    return core
}

private func rows(of core: DecisionCore) -> [[UInt8]] {
    var core = core
    core.beginCheckpoint()
    core.continueCheckpoint(bytes: .max)
    return core.takeCheckpointRows()
}

/// What the core decides in the next two days without an event: timers, and the feed's end.
private func log(of core: DecisionCore) -> [String] {
    var core = core
    var decisions: [Decision] = []
    core.advance(to: core.now + .seconds(172_800), into: &decisions)
    core.finish(into: &decisions)
    return decisions.map { "\($0)" }
}
