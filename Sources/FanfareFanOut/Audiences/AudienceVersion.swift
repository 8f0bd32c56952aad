import FanfareModel

/// A version of an audience, as it is published.
struct AudienceVersion {
    let event: Publication.Event
    let priority: Priority
    let latest: Publication
    /// Hash of the visible content.
    let displayHash: UInt64
}

extension AudienceVersion {
    /// Creates a version for the topic's own followers.
    init(_ publication: Publication) {
        self.init(
            event: publication.event, priority: publication.priority, latest: publication,
            displayHash: publication.displayHash)
    }
}
