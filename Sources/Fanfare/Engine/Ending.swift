import FanfareLoop

/// Final report of an engine, and the tasks that wait for it. Any thread.
final class Ending: Sendable {
    private struct State {
        var report: ShutdownReport?
        var waiting: [CheckedContinuation<ShutdownReport, Never>] = []
    }

    private let state = Locked(State())

    /// Stores the report and resumes the tasks. Called once, after the core is released.
    func come(with report: ShutdownReport) {
        let waiting = state.withLock { state in
            state.report = report
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume(returning: report) }
    }

    func wait() async -> ShutdownReport {
        await withCheckedContinuation { continuation in
            let report = state.withLock { state in
                if state.report == nil { state.waiting.append(continuation) }
                return state.report
            }
            if let report { continuation.resume(returning: report) }
        }
    }
}
