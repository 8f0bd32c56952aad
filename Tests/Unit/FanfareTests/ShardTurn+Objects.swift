@testable import Fanfare
@testable import FanfareFanOut

extension ShardTurn {
    /// Number of audiences that are objects, because they are not at rest.
    var awakeAudiences: Int {
        let audiences = shard.membership.audiences
        return audiences.indices.count { index in
            let audience = audiences[index]
            return audience !== audiences.vacant && audience !== audiences.resting
                && audience !== audiences.restingFollower
        }
    }

    /// Number of followers at rest.
    var restingFollowers: Int { shard.membership.audiences.followers.count }
}
