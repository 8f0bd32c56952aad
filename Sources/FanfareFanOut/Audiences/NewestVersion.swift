import FanfareModel

/// The version that an audience is being brought to. A lineup counts versions of its own, one for each change of a topic in it.
struct NewestVersion {
    /// Number of the version; 0 before the first.
    private(set) var number: UInt32 = 0
    private(set) var event = Publication.Event.update
    private(set) var priority: Priority
    /// The publication whose dates the version has: its own, or that of a lineup's spotlight.
    private(set) var publication: Publication?
    /// The first version since the last `showAgain`. A member that has an older version is sent the newest one even if both show the same.
    private(set) var shownAgainFrom: UInt32 = 0

    init(priority: Priority) { self.priority = priority }

    /// - Parameter number: number of a version that all members have.
    init(_ number: UInt32, _ version: AudienceVersion?, priority: Priority) {
        self.number = number
        self.priority = priority
        publication = version?.latest
    }

    /// - Parameters:
    ///   - number: number of a version that all followers of a topic have.
    ///   - publication: the publication that made it; `nil` if there has been none.
    init(_ number: UInt32, _ publication: Publication?) {
        self.number = number
        priority = publication?.priority ?? .conserving
        self.publication = publication
    }

    mutating func advance(to version: AudienceVersion) {
        number += 1
        event = version.event
        priority = version.priority
        publication = version.latest
    }

    /// Makes members get the next version even if its content was sent to them before.
    mutating func showAgain() { shownAgainFrom = number + 1 }
}
