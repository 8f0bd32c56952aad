import FanfareModel

extension ShardCommand {
    /// Why no shard will carry this out, in one line for people; `nil`: nothing is wrong with it. A shard that gets it all the same
    /// tells of a `CommandRefusal`, later.
    package func fault(topicIDBytesMax: Int) -> String? {
        switch self {
        case .follow(_, let audience, let token, _, _): ShardCommand.fault(of: token) ?? audience.fault(topicIDBytesMax)
        case .start(let request, let audience):
            ShardCommand.fault(of: request.token) ?? audience.fault(topicIDBytesMax)
        case .move(_, let audience): audience.fault(topicIDBytesMax)
        case .replaceToken(_, let token): ShardCommand.fault(of: token)
        case .publish, .revokeAlert, .republish, .forget, .prefer, .unfollow, .tellDisposition, .trustDeadAnswers,
            .reportQuiet:
            nil
        }
    }

    private static func fault(of token: [UInt8]) -> String? {
        (1...TokenStore.tokenBytesMax).contains(token.count)
            ? nil : "a token has 1 to \(TokenStore.tokenBytesMax) bytes, not \(token.count)"
    }
}

extension AudienceKey {
    fileprivate func fault(_ topicIDBytesMax: Int) -> String? {
        if case .lineup(let members, _) = self {
            guard (1...Lineup.topicsMax).contains(members.count) else {
                return "a lineup has 1 to \(Lineup.topicsMax) topics, not \(members.count)"
            }
            guard Set(members).count == members.count else { return "a lineup has each of its topics once" }
        }
        for topic in topics where !(1...max(1, topicIDBytesMax)).contains(topic.rawValue.utf8.count) {
            return "a topic's id has 1 to \(topicIDBytesMax) bytes, not \(topic.rawValue.utf8.count)"
        }
        return nil
    }
}
