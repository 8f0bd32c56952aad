import FanfareModel

/// The version that an audience is being brought to. A lineup counts versions of its own, one for each change of a topic in it.
struct NewestVersion {
    /// 0 before the first.
    private(set) var number: UInt32 = 0
    private(set) var event = Publication.Event.update
    private(set) var priority: Priority
    /// Whose dates it has: the publication that made it, or that of a lineup's spotlight.
    private(set) var publication: Publication?
    /// Who has been served with an older version has not seen what it shows, though it may have been sent it.
    private(set) var shownAgainFrom: UInt32 = 0

    init(priority: Priority) { self.priority = priority }

    /// - Parameter number: of a version that all have seen.
    init(_ number: UInt32, _ version: Audience.Version?, priority: Priority) {
        self.number = number
        self.priority = priority
        publication = version?.latest
    }

    mutating func advance(to version: Audience.Version) {
        number += 1
        event = version.event
        priority = version.priority
        publication = version.latest
    }

    /// What is sent from the next version on is to be sent to those, too, who have been sent it already.
    mutating func showAgain() { shownAgainFrom = number + 1 }
}
