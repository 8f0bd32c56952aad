package import FanfareModel

/// Completion of a topic in an app, for its followers or its lineups, as a store keeps it. Its key tells the scope.
package struct StoredCompletion: Sendable, Equatable {
    package let topic: TopicID
    /// App of the activities; `nil` if nothing is sent to APNs.
    package let app: AppID?
    /// Birth of the topic, which tells it from others with its id, and the version that the activities have.
    package let birth: UInt64
    package let version: UInt32
    /// CRC-32 of the state that the version shows, which another release may decide otherwise; `nil` in a row of an earlier form.
    package let displayHash: UInt32?
    /// Log time before which the version's holders joined.
    package let before: FeedTime
    /// Serial below which imported cards have the version; later imports lack it.
    package let serials: UInt64
    /// Activities that lack the version.
    package let exceptions: [ActivityMark]

    package init(_ completion: TopicCompletion, app: AppID?, serials: UInt64) {
        let publication = completion.publication
        self.init(
            topic: publication.topicID, app: app, birth: publication.topic.birth, version: publication.version,
            displayHash: StoredCompletion.displayHash(of: publication), before: completion.before, serials: serials,
            exceptions: completion.exceptions)
    }

    package init(
        topic: TopicID, app: AppID?, birth: UInt64, version: UInt32, displayHash: UInt32?, before: FeedTime,
        serials: UInt64, exceptions: [ActivityMark] = []
    ) {
        (self.topic, self.app, self.birth, self.version, self.displayHash) = (topic, app, birth, version, displayHash)
        (self.before, self.serials, self.exceptions) = (before, serials, exceptions)
    }

    /// Returns whether the publication shows the version's state.
    package func shows(_ publication: Publication) -> Bool {
        displayHash.map { $0 == StoredCompletion.displayHash(of: publication) } ?? true
    }

    private static func displayHash(of publication: Publication) -> UInt32 { publication.state.bytes.checksum }
}

/// Place in a table of completions: a topic has one row for each app and scope.
package struct CompletionKey: Sendable, Hashable {
    package let birth: UInt64
    /// Index of the app in this process.
    package let app: UInt16
    package let scope: CompletionScope

    /// Bit of the packed key that tells the scope. An engine has far fewer apps.
    private static let lineupsBit: UInt16 = 1 << 15

    package init(birth: UInt64, app: Int, of scope: CompletionScope = .followers) {
        (self.birth, self.scope) = (birth, scope)
        self.app = UInt16(truncatingIfNeeded: app) & ~CompletionKey.lineupsBit
    }

    init(_ packed: UInt64) {
        let low = UInt16(truncatingIfNeeded: packed)
        birth = packed >> 16
        app = low & ~CompletionKey.lineupsBit
        scope = low & CompletionKey.lineupsBit == 0 ? .followers : .lineups
    }

    var packed: UInt64 { birth << 16 | UInt64(scope == .lineups ? app | CompletionKey.lineupsBit : app) }
}

/// Point of the log up to which completions are known. Another log, as after a restored backup, makes them void.
package struct CompletionHead: Sendable, Equatable {
    /// Position and log time of an entry.
    package var position: LogPosition
    package var now: FeedTime

    package init(position: LogPosition, now: FeedTime) { (self.position, self.now) = (position, now) }

    /// Returns whether the log has that entry, or has been trimmed past it.
    package func isOf(_ log: any Log) throws(LogError) -> Bool {
        guard position <= log.end else { return false }
        guard position >= log.start, position > 0 else { return true }
        var found: FeedTime?
        try log.read(from: position) { (_, entry) throws(LogError) in
            found = entry.now
            return false
        }
        return found == now
    }
}

/// Changes of completions on their way to a store. A later change of a key replaces an earlier one, so there is at most one per topic, app and scope.
package struct CompletionChanges: Sendable {
    /// Is `true` if all earlier completions are void.
    private(set) var isVoid = false
    /// The newest completion of a key; `nil` to remove it.
    private var rows: [CompletionKey: StoredCompletion?] = [:]
    private(set) var head: CompletionHead?

    package init() {}

    package var isEmpty: Bool { !isVoid && rows.isEmpty }
    var count: Int { rows.count }

    package mutating func note(_ completion: StoredCompletion, at key: CompletionKey, _ head: CompletionHead) {
        rows[key] = .some(completion)
        self.head = head
    }

    package mutating func forget(_ key: CompletionKey) { rows[key] = .some(nil) }

    /// Removes all completions of a topic in an app.
    package mutating func forget(_ birth: UInt64, app: Int) {
        for scope in CompletionScope.allCases { forget(CompletionKey(birth: birth, app: app, of: scope)) }
    }

    package mutating func void() {
        rows = [:]
        (isVoid, head) = (true, nil)
    }

    /// Changes that leave completions without a log, so that the next process treats every start as one that may have left.
    package static var ofNoLog: CompletionChanges {
        var changes = CompletionChanges()
        changes.void()
        changes.head = CompletionHead(position: .max, now: FeedTime.plausible.lowerBound)
        return changes
    }

    /// Adds later changes to changes that were not written.
    mutating func add(_ later: CompletionChanges) {
        if later.isVoid { void() }
        rows.merge(later.rows) { $1 }
        head = later.head ?? head
    }

    /// Removes and returns as many changes as fit into a commit that others wait for.
    mutating func take(_ limit: Int) -> CompletionChanges {
        guard rows.count > limit else {
            defer { self = CompletionChanges() }
            return self
        }
        var part = CompletionChanges()
        (part.isVoid, part.head) = (isVoid, head)
        for (key, row) in rows.prefix(limit) { part.rows[key] = row }
        for key in part.rows.keys { rows[key] = nil }
        isVoid = false
        return part
    }

    /// The rows in the order of their keys, which is quicker to write.
    var sorted: [(key: CompletionKey, completion: StoredCompletion?)] {
        rows.map { ($0.key, $0.value) }.sorted { $0.key.packed < $1.key.packed }
    }
}

// MARK: - Serial form

extension StoredCompletion {
    /// Form of a completion of followers.
    private static let form: UInt8 = 2
    /// Form of a completion of lineups, which releases that know followers alone would take for one of theirs.
    private static let formOfLineups: UInt8 = 3

    /// Returns the serial form. Its checksum covers the key as well.
    package func bytes(key: CompletionKey) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: key.scope == .lineups ? StoredCompletion.formOfLineups : StoredCompletion.form)
        writer.write(topic.rawValue)
        writer.write(app) { $0.write($1) }
        writer.write(UInt64(version))
        writer.write(displayHash) { $0.write(fixed: $1) }
        writer.write(before)
        writer.write(serials)
        writer.write(all: exceptions) { $0.write(fixed: $1.rawValue) }
        return LogEntry.sealed(writer.bytes[...], at: key.packed)
    }

    package init(_ bytes: [UInt8], key: CompletionKey) throws(SerialError) {
        var reader = try SerialReader(sealed: bytes, at: key.packed)
        let form = try reader.byte()
        guard form <= StoredCompletion.formOfLineups else {
            throw .newerForm(form, known: StoredCompletion.formOfLineups)
        }
        guard form > 0, (form == StoredCompletion.formOfLineups) == (key.scope == .lineups) else {
            throw .malformed("form")
        }
        let topic = TopicID(try reader.text())
        let app = try reader.optional { (reader) throws(SerialError) in try reader.app() }
        guard let version = UInt32(exactly: try reader.unsigned()) else { throw .malformed("version") }
        // A completion of form 1 has no checksum of its version's state.
        let displayHash = form < 2 ? nil : try reader.optional { (reader) throws(SerialError) in try reader.fixed32() }
        let before = try reader.time()
        let serials = try reader.unsigned()
        let exceptions = try reader.all { (reader) throws(SerialError) in
            ActivityMark(rawValue: try reader.fixed32())
        }
        guard reader.isAtEnd else { throw .malformed("length") }
        self.init(
            topic: topic, app: app, birth: key.birth, version: version, displayHash: displayHash, before: before,
            serials: serials, exceptions: exceptions)
    }
}

extension CompletionHead {
    private static let form: UInt8 = 1
    /// Key of the row.
    package static let key: UInt64 = 1

    package func bytes() -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: CompletionHead.form)
        writer.write(position)
        writer.write(now)
        return LogEntry.sealed(writer.bytes[...], at: CompletionHead.key)
    }

    package init(_ bytes: [UInt8]) throws(SerialError) {
        var reader = try SerialReader(sealed: bytes, at: CompletionHead.key)
        let form = try reader.byte()
        guard form <= CompletionHead.form else { throw .newerForm(form, known: CompletionHead.form) }
        guard form > 0 else { throw .malformed("form") }
        (position, now) = (try reader.unsigned(), try reader.time())
        guard reader.isAtEnd else { throw .malformed("length") }
    }
}
