import FanfareModel

/// Apps to which the program pushes. Each has an APNs simulator of its own, so a push that comes to the wrong app is seen.
package enum CardApp: Int, CaseIterable, Sendable {
    /// The engine's first app, which each life has.
    case first
    /// App that some lives lack: it leaves an engine, and comes back to the same store.
    case second

    /// Returns the app of a card; a fourth of the cards is of the second one.
    init(card: Int) { self = card % 4 == 3 ? .second : .first }

    var bundleID: String { self == .first ? Names.bundleID : Names.bundleID + ".clips" }
    var id: AppID { AppID(bundleID: bundleID) }
}
