import FanfareFanOut
import FanfareLoop
import FanfareModel

extension Moment {
    static func now() -> Moment {
        Moment(wallMilliseconds: Clock.wallMilliseconds(), monotonicNanoseconds: Clock.monotonicNanoseconds())
    }
}
