import Fanfare
import FanfareModel

private let apps = [AppID(bundleID: "one"), AppID(bundleID: "two", environment: .development)]

/// One of the first rows of a checkpoint: the core's own, alerts, or calls with keys. Whatever the bytes are, the core refuses the row, or writes rows
/// from which another core goes on alike.
///
/// - Returns: whether the row was taken.
@discardableResult func runCoreRow(_ bytes: [UInt8]) -> Bool {
    // The decision core's rows have a subject of their own.
    guard let first = bytes.first, 64...66 ~= first else { return false }
    guard let core = restored([bytes]) else { return false }
    let written = core.firstRows()
    let again = restored(written)
    promise(again != nil, "a row of the core is refused that was just written")
    promise(again?.firstRows() == written, "a row of the core is read back otherwise")
    return true
}

private func restored(_ rows: [[UInt8]]) -> EngineCore? {
    let core = EngineCore(rowsOf: apps)
    do throws(SerialError) { for row in rows { try core.restore(row) } } catch { return nil }
    return core
}
