import FanfareFanOut
import FanfareModel

/// Judges the omission of a version from a shard's commands in favour of a newer one behind it.
struct OvertakingJudge {
    /// Versions taken from the ring and not yet applied, by serial, with the number of questions taken before.
    private var waiting: [UInt64: (version: Publication, questions: Int)] = [:]
    private var questions = 0

    /// Notes a command that the shard takes from its ring.
    mutating func took(_ command: ShardCommand) {
        if case .publish(let publication) = command { waiting[publication.serial] = (publication, questions) }
        if case .reportQuiet = command { questions += 1 }
    }

    /// Notes that the shard has applied a version.
    mutating func applied(_ serial: UInt64) { waiting[serial] = nil }

    /// - Parameter command: the command that overtakes the version.
    /// - Returns: the fault of the omission; `nil` if it is right.
    mutating func seen(_ serial: UInt64, overtakenBy command: ShardCommand) -> String? {
        guard let (old, asked) = waiting.removeValue(forKey: serial) else {
            return "publication \(serial) is overtaken and did not wait"
        }
        if asked != questions { return "publication \(serial) waits for what comes after a question" }
        guard case .publish(let new) = command, new.topicID == old.topicID, new.serial > serial else {
            return "publication \(serial) is overtaken by something else"
        }
        if old.event == .end || old.alert != nil || old.prominence.occasionWeight != nil || old.isRepublished {
            return "publication \(serial) is left out, which everybody is to get"
        }
        if old.priority == .immediate, new.priority != .immediate, new.event != .end {
            return "publication \(serial) waits for a less urgent one"
        }
        return nil
    }
}
