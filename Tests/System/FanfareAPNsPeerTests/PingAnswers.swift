import FanfareLoop

/// A server's answers to PINGs: at once, late, or never.
final class PingAnswers {
    private let loop: Loop
    private var timers: [LoopTimer] = []
    /// Number of PINGs that are answered.
    private(set) var count = 0
    /// Delay of the answers, which simulates distance.
    var delay = Duration.zero
    /// Connections whose PINGs are not answered.
    var withheld: Set<Int> = []

    init(_ loop: Loop) { self.loop = loop }

    func answer(_ payload: [UInt8], of connection: Int, write: @escaping ([UInt8]) -> Void) {
        guard !withheld.contains(connection) else { return }
        count += 1
        let pong = frame(6, flags: 1, payload)
        guard delay > .zero else { return write(pong) }
        let timer = LoopTimer(loop: loop) { write(pong) }
        timer.start(after: delay)
        timers.append(timer)
    }
}
