import FanfareModel

/// Names of a feed's members that nobody reads and that look like slips, each told once: `patch`, where `set` was meant, would
/// otherwise be a feed in which nothing ever happens. A feed may well carry more than is read; of that nothing is said.
final class UnknownMembers {
    /// What a line of the native format may have.
    private static let known = [
        "topic", "at", "topicKind", "seq", "id", "kind", "set", "fact", "retracts", "operator", "alert", "app",
    ]
    /// Names under which people know the same.
    private static let synonyms = [
        "patch": "set", "merge": "set", "state": "set", "contentState": "set", "content-state": "set",
        "time": "at", "timestamp": "at", "topicId": "topic", "event": "kind", "lifecycle": "kind",
        "sequence": "seq", "retract": "retracts", "order": "operator", "notification": "alert", "bundle": "app",
    ]
    /// Names that are looked at; a feed whose members are all different must not be kept in mind.
    private static let namesMax = 256
    /// Names of more bytes are no slips.
    private static let nameBytesMax = 40

    // Confined to the decoder's thread, and no call comes back into it: each member of each line asks.

    /// In the order of their first appearance. Most feeds have a few, on every line: those are found sooner than hashed.
    @exclusivity(unchecked) private var seen: [[UInt8]] = []
    /// Where a line that has the members of the one before it has its next one.
    @exclusivity(unchecked) private var expected = 0
    /// Not told yet.
    @exclusivity(unchecked) private var fresh: [String] = []

    func note(_ name: JSONElement) {
        guard seen.count < UnknownMembers.namesMax, name.byteCount <= UnknownMembers.nameBytesMax else { return }
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

    /// What to say of the line that has just been read; mostly nothing.
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
