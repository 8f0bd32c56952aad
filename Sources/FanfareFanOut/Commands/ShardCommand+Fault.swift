package import FanfareModel

/// The reason for which no shard carries a command out.
package struct CommandFault: Sendable, Hashable, CustomStringConvertible {
    package let refusal: CommandRefusal
    /// The bound and the value, in one line for people.
    package let description: String
}

extension ShardCommand {
    /// Returns the reason for which no shard will carry this command out; `nil` if there is none. A shard that still receives the command reports its
    /// refusal later.
    package func fault(topicIDSizeMax: ByteCount) -> CommandFault? {
        switch self {
        case .follow(_, let audience, let token, _, _, _):
            ShardCommand.fault(of: token) ?? audience.fault(topicIDSizeMax)
        case .start(let request, let audience):
            ShardCommand.fault(of: request.token) ?? audience.fault(topicIDSizeMax)
        case .move(_, let audience): audience.fault(topicIDSizeMax)
        case .replaceToken(_, let token): ShardCommand.fault(of: token)
        case .publish, .publishResumed, .load, .endLoading, .followed, .reportCompletion, .claimed, .revokeAlert,
            .republish,
            .forget, .setPreferences, .unfollow, .reportDisposition, .checkRemoval, .confirmDeadTokens, .reportQuiet:
            nil
        }
    }

    private static func fault(of token: [UInt8]) -> CommandFault? {
        CommandRefusal(token: token).map {
            CommandFault(
                refusal: $0, description: "a token has 1 to \(Subscription.tokenSizeMax), not \(token.count)")
        }
    }
}

extension AudienceKey {
    fileprivate func fault(_ topicIDSizeMax: ByteCount) -> CommandFault? {
        if case .lineup(let members, _) = self {
            guard (1...AudienceKey.topicsMax).contains(members.count) else {
                return CommandFault(
                    refusal: .lineup,
                    description: "a lineup has 1 to \(AudienceKey.topicsMax) topics, not \(members.count)")
            }
            guard Set(members).count == members.count else {
                return CommandFault(refusal: .lineup, description: "a lineup has each of its topics once")
            }
        }
        for topic in topics where !(1...max(1, topicIDSizeMax.bytes)).contains(topic.rawValue.utf8.count) {
            return CommandFault(
                refusal: .topic,
                description: "a topic's id has 1 to \(topicIDSizeMax), not \(topic.rawValue.utf8.count)")
        }
        return nil
    }
}
