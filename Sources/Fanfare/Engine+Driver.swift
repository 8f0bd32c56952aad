import FanfareLoop
import FanfareModel
import Synchronization

extension Engine {
    /// Which thread is the core's.
    final class CoreThread: Sendable {
        /// `LoopThread.current` of it; written there before it calls anybody.
        let id = Atomic(UInt(0))

        var isCurrent: Bool { id.load(ordering: .relaxed) == LoopThread.current }
    }

    /// Calls the core's turns on its loop.
    final class Driver {
        private let core: EngineCore
        private let turn: CoreTurn
        private let loop: Loop
        private var wakeup: Wakeup?
        private var ticks: LoopTimer?

        var signal: WakeupSignal { wakeup!.signal }  // set in `init`, never cleared

        init(
            _ loop: Loop, _ options: Options, _ apps: [AppID], _ makeTransports: [TransportFactory],
            _ inbox: CoreTurn.Inbox, _ observer: Observer
        ) throws {
            self.loop = loop
            core = try EngineCore(
                loop: loop, rules: options.rules, limits: options.limits, shards: options.shards,
                pinsShards: options.pinsShards, makeTransports: makeTransports, apps: apps, clock: options.clock,
                subscribers: options.subscribers, report: { observer.report?($0) })
            turn = CoreTurn(core, inbox, clock: ThreadClock(options.clock)) { observer.report?($0) }
            do { wakeup = try Wakeup(loop: loop) { [unowned self] in work() } } catch {
                core.stop(within: .zero)
                throw error
            }
            ticks = LoopTimer(loop: loop) { [unowned self] in work() }
            turn.onOver = { loop.stop() }
            core.onRecord = { record, _ in observer.decided?(record) }
            core.onDeadToken = { observer.tokenDied?($0) }
            core.onFate = { observer.met?($0, $1) }
            core.onRelief = { [unowned self] in signal.signal() }
        }

        /// Until the engine has been told to stop, and has.
        func run() {
            loop.run()
            core.stop(within: turn.timeLeft)
        }

        private func work() {
            switch turn.run() {
            case .again: signal.signal()
            case .after(let wait?): ticks?.start(after: wait)
            case .after(nil): ticks?.stop()
            }
        }
    }
}
