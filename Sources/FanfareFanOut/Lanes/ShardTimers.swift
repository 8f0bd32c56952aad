import FanfareModel
import FanfareQueues

/// The shard's only timers: each part of it that has something to do at a time of its own has an entry here.
typealias ShardTimers = TimingWheel<TimerSubject>

/// Subject of an entry of the shard's timers: the work that is due when the entry expires.
enum TimerSubject: Hashable, BitwiseCopyable {
    /// An activity in its backoff. The entry is void if the slot has another generation.
    case activity(ActivitySlot, generation: UInt32)
    /// An audience that gathers alerts, by index.
    case audience(AudienceIndex)
    /// Activities in the quarantine of dead tokens: one entry for all.
    case quarantine
    /// The scan for old activities.
    case ageScan
    /// A lineup that may have to change without a publication, by its audience's index.
    case lineup(AudienceIndex)
    /// Lineups that wait for claims: one entry for all.
    case claims
}
