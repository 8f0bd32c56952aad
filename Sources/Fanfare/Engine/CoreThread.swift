import FanfareLoop
import Synchronization

/// Identity of the core's thread.
final class CoreThread: Sendable {
    /// `LoopThread.current` of the core's thread, which stores it before it makes any call.
    let id = Atomic(UInt(0))

    var isCurrent: Bool { id.load(ordering: .relaxed) == LoopThread.current }
}
