import FanfareLineup

/// What a lineup has shown since it was joined: the oracle of its spotlight.
struct ShownLineup {
    /// The lineup of the last push; `nil` before the first.
    var last: LineupContentState<Match>?
    var rotation = RotationJudge()
}
