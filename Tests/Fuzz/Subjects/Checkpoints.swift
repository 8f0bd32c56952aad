import FanfareDecisions
import FanfareModel

/// The core's own row, of a core with many topics; a topic's row is refused without it. Form: clock, serial, next birth, no orders.
private let coreRow: [UInt8] = [
    0x01, 0xe0, 0xc6, 0xcb, 0xa2, 0xeb, 0x58, 0x41, 0xff, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00,
]

/// A row of a checkpoint: whatever the bytes are, the decision core refuses the row, or goes on from it, and writes a checkpoint from which
/// another core goes on alike.
///
/// - Returns: whether the row was taken.
@discardableResult func runCheckpoint(_ bytes: [UInt8]) -> Bool {
    guard let core = restored(bytes.first == coreRow.first ? [bytes] : [coreRow, bytes]) else { return false }
    let written = rows(of: core)
    let again = restored(written)
    promise(again != nil, "a checkpoint is refused that was just written")
    guard let again else { return false }
    promise(rows(of: again) == written, "a checkpoint is read back otherwise")
    promise(log(of: core) == log(of: again), "a core goes on otherwise after a checkpoint")
    return true
}

private func restored(_ rows: [[UInt8]]) -> DecisionCore? {
    var core = DecisionCore(isLive: false)
    do throws(SerialError) {
        for row in rows { try core.restore(row) }
        try core.endRestoring()
    } catch { return nil }
    return core
}

private func rows(of core: DecisionCore) -> [[UInt8]] {
    var core = core
    core.beginCheckpoint()
    core.continueCheckpoint(upTo: .max)
    return core.takeCheckpointRows()
}

/// Decisions of the core in the next two days without an event: timers, and the feed's end.
private func log(of core: DecisionCore) -> [String] {
    var core = core
    var decisions: [Decision] = []
    core.advance(to: core.now + .seconds(172_800), into: &decisions)
    core.finish(into: &decisions)
    return decisions.map { "\($0)" }
}
