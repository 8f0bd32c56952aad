internal import CFanfareLMDB
package import FanfareModel
internal import Glibc

/// Store of claims in a folder, by LMDB: a table with the log time at which it begins and the stamp ceiling, one each for claims of alerts
/// and of starts, and one of completions. Each `append` is one transaction with one sync.
///
/// One process uses a folder at a time. `Sendable` is unchecked because `ClaimStore` confines it to one thread at a time.
package final class ClaimFolder: ClaimStore, @unchecked Sendable {
    private enum Table: Int, CaseIterable { case head, claims, completions, starts }

    /// Number of the serial form that this release writes.
    private static let form: UInt8 = 1
    /// Key of the stamp ceiling, in the table `head`.
    private static let stampKey: UInt64 = 2
    /// Removals in a commit, more than it appends.
    private static let removalsMax = 64

    private let folder: String
    private let mapSize: ByteCount
    private let isReadOnly: Bool
    /// `nil` after a write that failed, until the next call.
    private var environment: LMDBEnvironment?
    /// Bytes of the file; `nil` before it is opened for the first time.
    private var disk: DiskSize?
    private var lock: StoreFolder?
    package private(set) var start: FeedTime?
    package private(set) var stampCeiling: Int64?
    private var alerts = Rows(.claims)
    private var starts = Rows(.starts)
    private var startTime = StartClaimTime()

    package var diskSize: DiskSize { disk ?? DiskSize() }

    /// Rows of claims in a table, with keys that count up.
    private struct Rows {
        let table: Table
        /// Keys of the kept rows, in order, and the log times at which they expire.
        var kept: ArraySlice<(key: UInt64, expires: FeedTime)> = []
        var next: UInt64 = 1

        init(_ table: Table) { self.table = table }

        /// Returns the changes that append rows and remove the first ones as far as they have expired.
        ///
        /// - Parameter claims: one for each new row.
        func changes(
            appending claims: [StoredClaims], at now: FeedTime, bytes: (StoredClaims, UInt64) -> [UInt8]
        ) -> (changes: [LMDBEnvironment.Change], removed: Int) {
            // The folder removes rows in order: an unexpired row keeps all later ones.
            let expired = kept.prefix(ClaimFolder.removalsMax + claims.count).prefix { $0.expires < now }
            var changes = expired.map { LMDBEnvironment.Change(table: table.rawValue, key: $0.key) }
            for (offset, claims) in claims.enumerated() {
                let key = next + UInt64(offset)
                changes.append(.init(table: table.rawValue, key: key, row: bytes(claims, key)))
            }
            return (changes, expired.count)
        }

        /// Notes that these changes were made.
        mutating func made(removed: Int, added expiries: [FeedTime]) {
            kept.removeFirst(removed)
            for expires in expiries {
                kept.append((next, expires))
                next += 1
            }
        }
    }

    /// Opens the claims of a store, in its folder `claims`, which is created with mode 700 if it is missing.
    package convenience init(store: String, mapSize: ByteCount = LMDBLog.mapSizeFirst) throws(LogError) {
        try self.init(store, mapSize: mapSize, lock: StoreFolder(store + "/claims"))
        try StoreFolder.syncNames(folder)
    }

    /// - Parameter lock: `nil` to read only, also beside the process that uses the folder.
    private init(_ store: String, mapSize: ByteCount, lock: StoreFolder?) throws(LogError) {
        folder = store + "/claims"
        self.mapSize = mapSize
        self.lock = lock
        isReadOnly = lock == nil
        var head: [UInt8]?
        var ceiling: [UInt8]?
        do throws(LMDBEnvironment.Failure) {
            try unsafe opened().scan(Table.head.rawValue, from: 0) { key, row in
                if key == 0 { head = unsafe Array(row) }
                if key == ClaimFolder.stampKey { ceiling = unsafe Array(row) }
                return true
            }
            alerts.next = try opened().lastKey(of: Table.claims.rawValue)
            starts.next = try opened().lastKey(of: Table.starts.rawValue)
        } catch {
            throw unreadable(error)
        }
        // No store has had half of all keys.
        let last = max(alerts.next, starts.next)
        guard last < .max / 2 else { throw LogError("\(folder): claim \(last): it is damaged", .damaged) }
        (alerts.next, starts.next) = (alerts.next + 1, starts.next + 1)
        do throws(SerialError) {
            start = try head.map { (row) throws(SerialError) in try ClaimFolder.start(row) }
            stampCeiling = try ceiling.map { (row) throws(SerialError) in try ClaimFolder.stampCeiling(row) }
        } catch {
            throw damaged("head", error)
        }
    }

    /// Reads all claims and completions of a store, also beside the process that uses them.
    ///
    /// - Returns: their numbers; `nil` if the store has none.
    package static func check(store: String) throws(LogError) -> (claims: Int, completions: Int)? {
        guard unsafe fanfare_file_bytes(store + "/claims/data.mdb") >= 0 else { return nil }
        let folder = try ClaimFolder(store, mapSize: LMDBLog.mapSizeFirst, lock: nil)
        var (claims, completions) = (0, 0)
        try folder.read { _ in claims += 1 }
        _ = try folder.readCompletions { _, _ in completions += 1 }
        return (claims, completions)
    }

    /// Returns a reader of a row of the table `head`, positioned after the form.
    private static func reader(_ row: [UInt8], at key: UInt64) throws(SerialError) -> SerialReader {
        var reader = try SerialReader(sealed: row, at: key)
        let form = try reader.byte()
        guard form > 0, form <= ClaimFolder.form else { throw .newerForm(form, known: ClaimFolder.form) }
        return reader
    }

    private static func start(_ row: [UInt8]) throws(SerialError) -> FeedTime {
        var reader = try reader(row, at: 0)
        return try reader.time()
    }

    private static func stampCeiling(_ row: [UInt8]) throws(SerialError) -> Int64 {
        var reader = try reader(row, at: stampKey)
        guard let ceiling = UInt32(exactly: try reader.unsigned()), reader.isAtEnd else {
            throw .malformed("mark of stamps")
        }
        return Int64(ceiling)
    }

    private func opened() throws(LMDBEnvironment.Failure) -> LMDBEnvironment {
        if let environment { return environment }
        let opened = try LMDBEnvironment(
            folder: folder, tables: Table.allCases.map { "\($0)" }, newer: ["\(Table.starts)"], mapSize: mapSize,
            isReadOnly: isReadOnly, isOpenedAgain: disk != nil)
        environment = opened
        noteSize(of: opened)
        return opened
    }

    private func noteSize(of environment: LMDBEnvironment, after changes: [LMDBEnvironment.Change] = []) {
        var size = diskSize
        size.note(changes, in: environment)
        disk = size
    }

    /// Refuses claims whose head a newer release has written, which `suspend` would refuse. Changes nothing.
    package static func checkForm(store: String) throws(LogError) {
        guard unsafe fanfare_file_bytes(store + "/claims/data.mdb") >= 0 else { return }
        do throws(LogError) {
            _ = try ClaimFolder(store, mapSize: LMDBLog.mapSizeFirst, lock: nil)
        } catch {
            if error.cause == .newerRelease { throw error }
        }
    }

    /// Notes that a store's alerts leave without claims from now on, if it has claims: its fresh alerts do not go on.
    package static func suspend(store: String) throws(LogError) {
        guard unsafe fanfare_file_bytes(store + "/claims/data.mdb") >= 0 else { return }
        do throws(LogError) {
            let folder = try ClaimFolder(store: store)
            try folder.write([
                .init(table: Table.head.rawValue, key: 0, row: nil),
                .init(table: Table.head.rawValue, key: CompletionHead.key, row: nil),
            ])
        } catch {
            guard error.cause == .damaged, putAside(store) else { throw error }
        }
    }

    package func begin(at start: FeedTime) throws(LogError) {
        var writer = SerialWriter()
        writer.write(byte: ClaimFolder.form)
        writer.write(start)
        try write([.init(table: Table.head.rawValue, key: 0, row: LogEntry.sealed(writer.bytes[...], at: 0))])
        self.start = start
    }

    package func append(
        _ claims: [StoredClaims], _ completions: CompletionChanges, stampCeiling ceiling: Int64?
    ) throws(LogError) {
        guard !claims.isEmpty || !completions.isEmpty || ceiling != nil else { return }
        let now = claims.last?.now ?? FeedTime(milliseconds: .min)
        let startTime = claims.isEmpty ? now : startTime.advance(to: now)
        let ofAlerts = claims.compactMap(\.ofAlerts)
        let ofStarts = claims.compactMap(\.ofStarts).map { $0.made(at: startTime) }
        let alertRows = alerts.changes(appending: ofAlerts, at: now) { $0.bytes(key: $1) }
        let startRows = starts.changes(appending: ofStarts, at: startTime) { $0.bytes(ofStartsAt: $1) }
        var changes = alertRows.changes + startRows.changes
        if let ceiling {
            var writer = SerialWriter()
            writer.write(byte: ClaimFolder.form)
            writer.write(UInt64(ceiling))
            changes.append(
                .init(
                    table: Table.head.rawValue, key: ClaimFolder.stampKey,
                    row: LogEntry.sealed(writer.bytes[...], at: ClaimFolder.stampKey)))
        }
        try write(changes + ClaimFolder.changes(for: completions))
        stampCeiling = ceiling ?? stampCeiling
        alerts.made(removed: alertRows.removed, added: ofAlerts.map(\.expires))
        starts.made(removed: startRows.removed, added: ofStarts.map(\.startsExpire))
    }

    private static func changes(for completions: CompletionChanges) -> [LMDBEnvironment.Change] {
        var changes: [LMDBEnvironment.Change] = []
        let (head, table) = (Table.head.rawValue, Table.completions.rawValue)
        if completions.isVoid {
            changes.append(.init(table: table, isOfAll: true))
            changes.append(.init(table: head, key: CompletionHead.key))
        }
        for (key, completion) in completions.sorted {
            changes.append(.init(table: table, key: key.packed, row: completion?.bytes(key: key)))
        }
        if let point = completions.head {
            changes.append(.init(table: head, key: CompletionHead.key, row: point.bytes()))
        }
        return changes
    }

    package func readCompletions(
        _ body: (CompletionKey, StoredCompletion) -> Void
    ) throws(LogError) -> CompletionHead? {
        var head: [UInt8]?
        var fault: (row: String, error: SerialError)?
        do throws(LMDBEnvironment.Failure) {
            try unsafe opened().scan(Table.head.rawValue, from: CompletionHead.key) { key, row in
                if key == CompletionHead.key { head = unsafe Array(row) }
                return false
            }
            try unsafe opened().scan(Table.completions.rawValue, from: 0) { packed, row in
                let key = CompletionKey(packed)
                do throws(SerialError) { unsafe body(key, try StoredCompletion(Array(row), key: key)) } catch {
                    fault = ("completion \(packed)", error)
                }
                return fault == nil
            }
        } catch {
            throw unreadable(error)
        }
        if let fault { throw damaged(fault.row, fault.error) }
        do throws(SerialError) {
            return try head.map { (row) throws(SerialError) in try CompletionHead(row) }
        } catch {
            throw damaged("head of completions", error)
        }
    }

    private func write(_ changes: [LMDBEnvironment.Change]) throws(LogError) {
        do throws(LMDBEnvironment.Failure) {
            let environment = try opened()
            try environment.write(changes)
            noteSize(of: environment, after: changes)
        } catch {
            // LMDB refuses all further writes of an environment after some failures, so the next try opens it anew.
            environment = nil
            // A copy of claims may lack starts that have left.
            let call = error.call(ifRemoved: "stop the process and remove the folder")
            throw LogError("\(folder): cannot be written: \(error.reason) (\(call))")
        }
    }

    package func read(_ body: (StoredClaims) -> Void) throws(LogError) {
        alerts.kept = []
        starts.kept = []
        var fault: (row: String, error: SerialError)?
        do throws(LMDBEnvironment.Failure) {
            try unsafe opened().scan(Table.claims.rawValue, from: 0) { key, row in
                do throws(SerialError) {
                    let claims = try unsafe StoredClaims(Array(row), key: key)
                    alerts.kept.append((key, claims.expires))
                    body(claims)
                } catch { fault = ("claim \(key)", error) }
                return fault == nil
            }
            try unsafe opened().scan(Table.starts.rawValue, from: 0) { key, row in
                guard fault == nil else { return false }
                do throws(SerialError) {
                    let claims = try unsafe StoredClaims(Array(row), ofStartsAt: key)
                    starts.kept.append((key, claims.startsExpire))
                    startTime.note(claims.now)
                    body(claims)
                } catch { fault = ("claim of starts \(key)", error) }
                return fault == nil
            }
        } catch {
            throw unreadable(error)
        }
        if let fault { throw damaged(fault.row, fault.error) }
    }

    package func close() {
        environment = nil
        lock = nil
    }

    private func damaged(_ row: String, _ error: SerialError) -> LogError {
        LogError("\(folder): \(row): \(error)", error.isOfNewerRelease ? .newerRelease : .damaged)
    }

    private func unreadable(_ error: LMDBEnvironment.Failure) -> LogError {
        LogError("\(folder): cannot be read: \(error.reason) (\(error.call))", error.causeOfReading)
    }

    /// Renames a damaged folder, in place of an earlier one.
    ///
    /// - Returns: `true` if it could be renamed.
    private static func putAside(_ store: String) -> Bool {
        let (path, aside) = (store + "/claims", store + "/claims.damaged")
        for name in ["data.mdb", "lock.mdb", "owner"] { unsafe unlink(aside + "/" + name) }
        unsafe rmdir(aside)
        return unsafe rename(path, aside) == 0
    }

    /// Opens the claims of a store and reads them. Damaged claims are put aside, and the store has none: unfinished alerts reach no further activity,
    /// starts that had not left do not leave, and every activity gets the newest state once.
    ///
    /// - Parameter read: reads the claims and completions.
    package static func opened(
        store: String, report: (String) -> Void, read: (ClaimFolder) throws(LogError) -> Void
    ) throws(LogError) -> ClaimFolder {
        do throws(LogError) {
            let folder = try ClaimFolder(store: store)
            try read(folder)
            return folder
        } catch {
            guard error.cause == .damaged else { throw error }
            guard putAside(store) else { throw error }
            report(
                "\(error); it is now \(store)/claims.damaged; alerts that had not reached everybody reach nobody else, and starts that had not "
                    + "left do not leave"
            )
            return try ClaimFolder(store: store)
        }
    }
}

// MARK: - Serial form

extension StoredClaims {
    private static let form: UInt8 = 1

    /// Returns the serial form. Its checksum covers the key as well.
    package func bytes(key: UInt64) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: StoredClaims.form)
        writer.write(app) { $0.write($1) }
        writer.write(now)
        writer.write(all: claims) { writer, claim in
            writer.write(claim.topic.rawValue)
            writer.write(claim.through)
            writer.write(claim.expires)
            writer.write(all: claim.activities.map { $0.rawValue })
        }
        return LogEntry.sealed(writer.bytes[...], at: key)
    }

    package init(_ bytes: [UInt8], key: UInt64) throws(SerialError) {
        var reader = try SerialReader(sealed: bytes, at: key)
        let form = try reader.byte()
        guard form <= StoredClaims.form else { throw .newerForm(form, known: StoredClaims.form) }
        guard form > 0 else { throw .malformed("form") }
        app = try reader.optional { (reader) throws(SerialError) in try reader.app() }
        now = try reader.time()
        starts = []
        claims = try reader.all { (reader) throws(SerialError) in
            AlertClaim(
                topic: TopicID(try reader.text()), through: try reader.time(), expires: try reader.time(),
                activities: try reader.all { (reader) throws(SerialError) in
                    ActivityMark(rawValue: try reader.fixed32())
                })
        }
        guard reader.isAtEnd else { throw .malformed("length") }
    }

    private static let formOfStarts: UInt8 = 1

    /// Returns the serial form of its starts. Its checksum covers the key as well.
    package func bytes(ofStartsAt key: UInt64) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: StoredClaims.formOfStarts)
        writer.write(app) { $0.write($1) }
        writer.write(now)
        writer.write(all: starts.map(\.rawValue))
        return LogEntry.sealed(writer.bytes[...], at: key)
    }

    package init(_ bytes: [UInt8], ofStartsAt key: UInt64) throws(SerialError) {
        var reader = try SerialReader(sealed: bytes, at: key)
        let form = try reader.byte()
        guard form <= StoredClaims.formOfStarts else { throw .newerForm(form, known: StoredClaims.formOfStarts) }
        guard form > 0 else { throw .malformed("form") }
        app = try reader.optional { (reader) throws(SerialError) in try reader.app() }
        now = try reader.time()
        claims = []
        starts = try reader.all { (reader) throws(SerialError) in StartMark(rawValue: try reader.fixed32()) }
        guard reader.isAtEnd else { throw .malformed("length") }
    }
}
