/// Counters of what a hostile peer could send without end, at no cost of its own and some of ours.
struct FloodGuard {
    private var idleFrames = 0
    private var repliesQueued = 0

    /// Maximum number of replies to PING and SETTINGS in the output while the peer reads nothing.
    static let repliesQueuedMax = 1000
    /// Maximum number of frames without effect (PING, PRIORITY, empty DATA, unknown types, closed streams) between two
    /// answers. An idle connection that gets a PING every minute lives for a week.
    static let idleFramesMax = 10_000

    mutating func countIdleFrame() throws(ConnectionError) {
        idleFrames += 1
        guard idleFrames <= FloodGuard.idleFramesMax else {
            throw ConnectionError(
                code: .enhanceYourCalm, text: "\(idleFrames) frames without purpose since the last answer")
        }
    }

    mutating func countReply() throws(ConnectionError) {
        repliesQueued += 1
        guard repliesQueued <= FloodGuard.repliesQueuedMax else {
            throw ConnectionError(
                code: .enhanceYourCalm, text: "\(repliesQueued) PING and SETTINGS frames whose answers nobody reads")
        }
    }

    mutating func answerArrived() { idleFrames = 0 }
    mutating func outputLeft() { repliesQueued = 0 }
}
