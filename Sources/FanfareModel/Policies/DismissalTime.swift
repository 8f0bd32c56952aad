/// Time at which a card leaves the Lock Screen after its end, as a publication carries it (rule L3).
///
/// A date stays a date until the push, because log time, by which decisions are made, may be hours from the wall clock.
package enum DismissalTime: Sendable, Hashable {
    /// The card leaves when this time has passed since the end.
    case after(Duration)
    /// The card leaves at this time of the wall clock, but not before the end and at most `Dismissal.longest` after it.
    case at(FeedTime)

    /// Returns the time for which the card stays.
    ///
    /// - Parameter end: time of the end, by the clock to which a date belongs.
    package func duration(from end: FeedTime) -> Duration {
        switch self {
        case .after(let duration): duration
        case .at(let date): min(max(date - end, .zero), Dismissal.longest)
        }
    }

    /// Returns what is left of the time when so much of it has passed since the end: never less than nothing, and never more than at first. A date stays.
    package func left(after passed: Duration) -> DismissalTime {
        guard case .after(let duration) = self, passed > .zero else { return self }
        return .after(max(duration - passed, .zero))
    }

    /// Returns the `dismissal-date` of an end that is sent at this moment, in Unix seconds.
    package func seconds(ofEndAt moment: Moment) -> Int64 {
        let now = moment.wallSeconds
        return switch self {
        case .after(let duration): now + duration.milliseconds / 1000
        case .at(let date): min(max(date.milliseconds / 1000, now), now + Dismissal.longest.milliseconds / 1000)
        }
    }
}

extension DismissalTime {
    /// The time as one number, as publications and checkpoints keep it: the milliseconds of a duration, or those of a date beyond all durations.
    /// Dates that no feed may name (`FeedTime.plausible`) become the nearest that it may.
    package var number: Int64 {
        switch self {
        case .after(let duration): duration.milliseconds
        case .at(let date):
            DismissalTime.dates + min(max(date.milliseconds, 0), FeedTime.plausible.upperBound.milliseconds)
        }
    }

    package init(number: Int64) {
        self =
            number >= DismissalTime.dates
            ? .at(FeedTime(milliseconds: number - DismissalTime.dates)) : .after(.milliseconds(number))
    }

    /// The number of the first date. The milliseconds of a duration are less than 2^43 (`Duration.milliseconds`).
    private static let dates: Int64 = 1 << 62
}

extension Dismissal {
    /// Returns the dismissal time of an activity that has lasted that long.
    package func time(ofActivityLasting lasted: Duration) -> DismissalTime {
        switch self {
        case .immediate: .after(.zero)
        case .after(let duration): .after(min(max(duration, .zero), Dismissal.longest))
        case .at(let date): .at(date)
        // Shortcut, because every version computes it for the longest activity, and dividing a `Duration` is done in software.
        case .proportional where lasted >= .seconds(3 * 3600): .after(.seconds(30 * 60))
        case .proportional: .after(min(max(lasted / 6, .seconds(15 * 60)), .seconds(30 * 60)))
        }
    }
}
