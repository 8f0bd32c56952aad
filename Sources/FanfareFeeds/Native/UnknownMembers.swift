import FanfareJSON
import FanfareModel

/// Names of unknown members that look like typing errors, each reported once. `patch` instead of `set`, for instance, would give a
/// feed in which nothing ever happens. Other unknown members are legitimate and not reported.
final class UnknownMembers {
    /// Members of a line in the native format.
    private static let known = [
        "topic", "at", "topicKind", "seq", "id", "kind", "set", "fact", "retracts", "operator", "alert", "app",
    ]
    /// Other common names of the members.
    private static let synonyms = [
        "patch": "set", "merge": "set", "state": "set", "contentState": "set", "content-state": "set",
        "time": "at", "timestamp": "at", "topicId": "topic", "event": "kind", "lifecycle": "kind",
        "sequence": "seq", "retract": "retracts", "order": "operator", "notification": "alert", "bundle": "app",
    ]
    /// Maximum number of names inspected, because a feed whose members are all different must not fill memory.
    private static let namesMax = 256
    /// Maximum size of an inspected name; longer names are no typing errors.
    private static let nameSizeMax = ByteCount.bytes(40)

    // Unchecked, because each member of each line reads them: confined to the decoder's thread, without re-entrant calls.

    /// Names in order of first appearance. Most feeds have a few, on every line, which a linear search finds faster than a hash table.
    @safe @exclusivity(unchecked) private var seen: [[UInt8]] = []
    /// Index of the next name if the line has the members of the one before it.
    @safe @exclusivity(unchecked) private var expected = 0
    /// Notices not yet taken.
    @safe @exclusivity(unchecked) private var fresh: [String] = []

    func note(_ name: JSONElement) {
        guard seen.count < UnknownMembers.namesMax, name.byteCount <= UnknownMembers.nameSizeMax.bytes else { return }
        if expected < seen.count, name.equals(seen[expected]) {
            expected = (expected + 1) % seen.count
            return
        }
        if let index = seen.firstIndex(where: name.equals) {
            expected = (index + 1) % seen.count
            return
        }
        guard let name = name.string else { return }
        seen.append(Array(name.utf8))
        guard let meant = UnknownMembers.meant(by: name) else { return }
        fresh.append("unknown member `\(name)` (did you mean `\(meant)`?)")
    }

    /// Returns the notice about the line that was just read; usually `nil`.
    func takeNotice() -> String? {
        guard !fresh.isEmpty else { return nil }
        defer { fresh.removeAll() }
        return fresh.joined(separator: "; ")
    }

    private static func meant(by name: String) -> String? {
        guard let near = name.nearest(of: known + synonyms.keys.sorted()) else { return nil }
        return synonyms[near] ?? near
    }
}
