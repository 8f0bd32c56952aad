import Fanfare
import FanfareModel

/// Log time of a run, as an engine has it.
struct RunTime {
    private let clock: ThreadClock
    private var log: LogClock

    init(_ source: ClockSource) {
        clock = ThreadClock(source)
        log = LogClock(at: clock.now())
    }

    mutating func advance() -> (now: FeedTime, moment: Moment) {
        let moment = clock.now()
        return (log.advance(to: moment), moment)
    }
}
