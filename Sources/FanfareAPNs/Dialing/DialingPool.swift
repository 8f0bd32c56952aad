import FanfareLoop
import FanfareModel

/// A pool as the dialer of one of its connections sees it (`Dialer`).
protocol DialingPool: AnyObject {
    var configuration: PoolConfiguration { get }
    var loop: Loop { get }
    /// Knowledge of earlier connections about the endpoint.
    var knownEndpoint: KnownEndpoint { get }

    func now() -> Moment
    /// Reports one line to operators.
    func report(_ text: String, at now: MonotonicTime)
    /// Notes that a deadline has changed.
    func deadlinesChanged()
}
