/// Streams whose bodies wait for a window, in the order of their requests. May contain closed streams.
///
/// The list sends nothing: `ClientSession.receive` walks over it (`sendStalled`), once for all frames that have arrived together.
struct StalledBodies {
    private(set) var streams: [UInt32] = []
    /// `true` when a window has grown since the last attempt to send the bodies.
    private(set) var windowsHaveGrown = false

    mutating func windowGrew() { windowsHaveGrown = true }

    mutating func append(_ stream: UInt32) { streams.append(stream) }

    mutating func removeAll() { streams.removeAll() }

    /// Removes the streams that are closed.
    mutating func prune(_ isOpen: (UInt32) -> Bool) { streams.removeAll { !isOpen($0) } }

    /// Hands out the list for an attempt; `giveBack` returns those that still wait, and the storage.
    mutating func take() -> [UInt32] {
        windowsHaveGrown = false
        var taken: [UInt32] = []
        swap(&taken, &streams)
        return taken
    }

    mutating func giveBack(_ left: consuming [UInt32]) { streams = left }
}
