import FanfareLoop
import FanfareModel

/// A pool as the dialer of one of its connections sees it (`Dialer`).
protocol DialingPool: AnyObject {
    var configuration: PoolConfiguration { get }
    var loop: Loop { get }
    /// Knowledge of earlier connections about the endpoint.
    var knownEndpoint: KnownEndpoint { get set }
    var random: SystemRandomNumberGenerator { get set }

    func now() -> Moment
    /// Returns the time at which a server's certificate must be valid: Unix seconds; `nil` for the system's clock.
    func certificateTime() -> Int64?
    /// Reports one line to operators.
    func report(_ text: String, at now: MonotonicTime)
    /// Notes that a deadline has changed.
    func deadlinesChanged()
}
