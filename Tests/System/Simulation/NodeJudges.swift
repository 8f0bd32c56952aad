/// The judges of what a shard says and in which order its pushes leave. Each judges one rule by what it is told, and knows neither the world
/// nor the others.
struct NodeJudges {
    var lanes: LaneJudge
    var deadTokens: DeadTokenJudge
    var questions = QuestionJudge<Lack>()
    var overtaking = OvertakingJudge()
    var completions = CompletionJudge()

    init(lanes: LaneJudge, deadTokens: DeadTokenJudge) { (self.lanes, self.deadTokens) = (lanes, deadTokens) }

    /// Checks what must hold once everything has settled.
    ///
    /// - Parameters:
    ///   - lacked: publications that a follower lacks for good.
    ///   - doubtful: publications that may or may not have been complete.
    func violation(lacked: Set<UInt64>, doubtful: Set<UInt64>) -> String? {
        deadTokens.violation() ?? questions.violation() ?? completions.violation(lacked: lacked, doubtful: doubtful)
    }
}
