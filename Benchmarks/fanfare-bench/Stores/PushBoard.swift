import Dispatch
import Fanfare
import FanfareFanOut
import FanfareLoop

/// Pushes that have left a `WatchedTransport`, for other threads.
final class PushBoard: Sendable {
    /// Everything since the board was made.
    struct Seen: Sendable {
        var pushes = 0
        var alerts = 0
        /// Sum of all token bytes.
        var tokenSum: UInt64 = 0
        /// Monotonic nanoseconds of the first push; 0 before it.
        var firstAt: Int64 = 0
        /// Monotonic nanoseconds of the newest batch.
        var lastAt: Int64 = 0
        fileprivate var wanted = Int.max
        fileprivate var wantedAlerts = Int.max
    }

    private let state = Locked(Seen())
    private let came = DispatchSemaphore(value: 0)

    var seen: Seen { state.withLock { $0 } }

    /// Makes transports that this board watches.
    var factory: TransportFactory {
        { [self] loop, source, context in try WatchedTransport(loop, source, context.clock) { self.note($0, at: $1) } }
    }

    private func note(_ batch: DeliveryBatch, at now: Int64) {
        let (alerts, sum) = (batch.alerts, batch.tokenSum)
        state.withLock { seen in
            if seen.pushes == 0 { seen.firstAt = now }
            seen.lastAt = now
            seen.pushes += batch.deliveries.count
            seen.alerts += alerts
            seen.tokenSum &+= sum
            guard seen.pushes >= seen.wanted || seen.alerts >= seen.wantedAlerts else { return }
            (seen.wanted, seen.wantedAlerts) = (.max, .max)
            came.signal()
        }
    }

    /// Blocks until so many pushes have left since the board was made.
    func wait(for pushes: Int, within seconds: Int = 900) throws {
        let isThere = state.withLock { seen in
            if seen.pushes < pushes { seen.wanted = pushes }
            return seen.pushes >= pushes
        }
        guard !isThere, came.wait(timeout: .now() + .seconds(seconds)) == .timedOut else { return }
        throw BenchmarkFault("\(seen.pushes) pushes of \(pushes) have left in \(seconds) s")
    }

    /// Blocks until so many alerts have left since the board was made.
    func wait(forAlerts alerts: Int, within seconds: Int = 900) throws {
        let isThere = state.withLock { seen in
            if seen.alerts < alerts { seen.wantedAlerts = alerts }
            return seen.alerts >= alerts
        }
        guard !isThere, came.wait(timeout: .now() + .seconds(seconds)) == .timedOut else { return }
        throw BenchmarkFault("\(seen.alerts) alerts of \(alerts) have left in \(seconds) s")
    }
}

extension DeliveryBatch {
    /// Number of deliveries with an alert.
    fileprivate var alerts: Int {
        var (count, start) = (0, 0)
        while start < deliveries.count {
            let run = run(from: start)
            if payload(of: deliveries[start]).alert != nil { count += run.count }
            start = run.upperBound
        }
        return count
    }
}
