/// Answer to the question whether every activity has all earlier content.
package enum Settlement {
    /// Every activity has all earlier content, or newer content.
    case complete
    /// No push is in flight, but APNs has refused the content for some activity for good.
    case refused
    /// The time is over, or the engine stops.
    case unknown
}
