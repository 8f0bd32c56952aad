internal import CFanfareLMDB
package import FanfareModel
internal import Glibc

/// Store of people in a folder, by LMDB: a table for each slice, whose keys are serials, one with changed cards that are not in the slices yet
/// (`ChangeBuffer`), and one row with the position that the store has reached. Each `apply` is one transaction with one sync.
///
/// One process writes to a folder at a time; others may read it. `Sendable` is unchecked because `PeopleStore` confines it to one thread at a time.
package final class LMDBPeopleStore: PeopleStore, @unchecked Sendable {
    /// Row with the position that the store has reached, and the serial of the next card.
    private struct Head {
        static let form: UInt8 = 1
        /// Form of a store with rows in its `ChangeBuffer`, which a release that does not know these refuses.
        static let formWithChanges: UInt8 = 2
        var nextSerial: UInt64 = 1
        var position: LogPosition = 0
    }

    package let folder: String
    /// `nil` after a write that failed, until the next call.
    private var environment: LMDBEnvironment?
    private var hasOpened = false
    private let mapSize: ByteCount
    private let isReadOnly: Bool
    /// Lock of the folder; `nil` for a reader.
    private let lock: StoreFolder?
    private var head: Head
    private var buffer = ChangeBuffer(from: 1, mergeMin: .max)
    /// Rows of the buffer whose cards are unknown.
    private var unknownChanges = 0
    private let mergeMin: Int
    package private(set) var diskSize = DiskSize()
    /// Is `true` from a failed write to the next successful one.
    private var hasFailed = false

    package var position: LogPosition { head.position }
    package var nextSerial: UInt64 { head.nextSerial }

    private static let changes = "changes"
    private static let tables = ["head"] + (0..<Card.slices).map { "slice \($0)" } + [changes]
    private static let changeTable = Card.slices + 1
    /// Share of the cards that is merged at a time. A page has some 25 cards, of which one or two have changed then; their places take two or three
    /// bytes of memory for each card of the store.
    private static let mergedPart = 16
    /// Rows per transaction of a reader. A transaction that stays open keeps LMDB from using pages again.
    private static let rowsPerRead = 1000

    /// Returns `true` if a store keeps people, even none.
    package static func exists(store: String) -> Bool {
        // LMDB's file is empty at first, and has two pages until the first commit, which makes the tables.
        unsafe fanfare_file_bytes(store + "/people/data.mdb") > 2 * Int64(sysconf(CInt(_SC_PAGESIZE)))
    }

    /// Opens the people of a store.
    ///
    /// - Parameters:
    ///   - store: folder of the store; the people are in its folder `people`. Both are created with mode 700 if they are missing, unless
    ///     the people are only read.
    ///   - isReadOnly: `true` for a reader beside the process that writes.
    ///   - mergeMin: least number of changed cards that are merged into the slices at a time.
    package init(
        store: String, isReadOnly: Bool = false, mapSize: ByteCount = LMDBLog.mapSizeFirst, mergeMin: Int = 4096
    ) throws(LogError) {
        folder = store + "/people"
        self.mapSize = mapSize
        self.mergeMin = mergeMin
        self.isReadOnly = isReadOnly
        if isReadOnly {
            guard LMDBPeopleStore.exists(store: store) else {
                throw LogError("\(store): has no people that can be read; `fanfare people import` makes such a folder")
            }
            lock = nil
        } else {
            if unsafe mkdir(store, 0o700) != 0, errno != EEXIST {
                throw LogError(unsafe "\(store): cannot be made: \(String(cString: strerror(errno)))")
            }
            lock = try StoreFolder(folder)
        }
        head = Head()
        do throws(LMDBEnvironment.Failure) { _ = try opened() } catch {
            throw LogError(
                "\(folder): cannot be opened as a store: \(error.reason) (\(error.call))", error.causeOfReading)
        }
        head = try readHead()
        try readChanges()
        if !isReadOnly { try StoreFolder.syncNames(folder) }
    }

    private func opened() throws(LMDBEnvironment.Failure) -> LMDBEnvironment {
        if let environment { return environment }
        let opened = try LMDBEnvironment(
            folder: folder, tables: LMDBPeopleStore.tables, newer: [LMDBPeopleStore.changes], mapSize: mapSize,
            isReadOnly: isReadOnly, isOpenedAgain: hasOpened)
        (environment, hasOpened) = (opened, true)
        diskSize.note(in: opened)
        return opened
    }

    private func readHead() throws(LogError) -> Head {
        var row: [UInt8]?
        do throws(LMDBEnvironment.Failure) {
            try unsafe opened().scan(0, from: 0) { _, bytes in
                row = unsafe Array(bytes)
                return false
            }
        } catch {
            throw unreadable(error)
        }
        return try LMDBPeopleStore.head(row, folder)
    }

    /// Finds the cards that have rows in the buffer.
    private func readChanges() throws(LogError) {
        var read: ChangeBuffer?
        unknownChanges = 0
        let mergeMin = try mergeCount()
        do throws(LMDBEnvironment.Failure) {
            try unsafe opened().scan(LMDBPeopleStore.changeTable, from: 1) { number, row in
                var buffer = read.take() ?? ChangeBuffer(from: number, mergeMin: mergeMin)
                if let change = unsafe ChangedCard(Array(row), number: number) {
                    buffer.append(change.key)
                } else {
                    buffer.appendUnknown()
                    unknownChanges += 1
                }
                read = buffer
                return true
            }
        } catch {
            throw unreadable(error)
        }
        buffer = read ?? ChangeBuffer(from: 1, mergeMin: mergeMin)
    }

    private func mergeCount() throws(LogError) -> Int { max(mergeMin, try count() / LMDBPeopleStore.mergedPart) }

    package func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
        var head = Head(nextSerial: head.nextSerial, position: position)
        var rows: [Row] = []
        rows.reserveCapacity(changes.count)
        for change in changes {
            try change.check()
            switch change {
            case .insert(let card):
                let slice = Card.slice(ofSubscriber: card.subscriber, token: card.token)
                rows.append(try Row(card, at: CardKey(slice: slice, serial: head.nextSerial), isNew: true))
                head.nextSerial += 1
            case .replace(let key, let card):
                rows.append(try Row(card, at: key, isNew: key.serial >= self.head.nextSerial))
            case .remove(let key): rows.append(Row(removing: key))
            }
        }
        do throws(LogError) {
            // A failed commit may have been written.
            let isWritten = hasFailed ? try self.isWritten(upTo: position) : false
            if !isWritten { try write(rows, head) }
        } catch {
            // LMDB refuses all further writes of an environment after some failures, so the next try opens it anew.
            environment = nil
            hasFailed = true
            throw error
        }
        self.head = head
        hasFailed = false
    }

    /// Change of a card's row: its content, or its removal.
    private struct Row {
        let key: CardKey
        let bytes: [UInt8]?
        /// Is `true` if the card has no row before the call.
        let isNew: Bool

        init(_ card: Card, at key: CardKey, isNew: Bool) throws(LogError) {
            let bytes = card.bytes(serial: key.serial)
            guard bytes.count <= Card.sizeMax.bytes else {
                throw LogError(
                    "a card of \(bytes.count) bytes is too large for the store, which takes \(Card.sizeMax.bytes)",
                    .entry)
            }
            (self.key, self.bytes, self.isNew) = (key, bytes, isNew)
        }

        init(removing key: CardKey) { (self.key, bytes, isNew) = (key, nil, false) }
    }

    private func write(_ rows: [Row], _ head: Head) throws(LogError) {
        var changes: [LMDBEnvironment.Change] = []
        changes.reserveCapacity(3 * rows.count)
        // Merged rows come before the changes: a merged card may change again.
        try takeMerged(besides: rows.count { $0.bytes != nil && !$0.isNew }, into: &changes)
        var last = self.head.nextSerial
        for row in rows {
            guard let bytes = row.bytes else {
                buffer.remove(row.key)
                changes.append(.init(table: row.key.slice + 1, key: row.key.serial, row: nil))
                continue
            }
            if row.isNew {
                changes.append(
                    .init(
                        table: row.key.slice + 1, key: row.key.serial, row: bytes, isLast: row.key.serial >= last))
                last = max(last, row.key.serial + 1)
            } else {
                let number = buffer.append(row.key)
                changes.append(
                    .init(
                        table: LMDBPeopleStore.changeTable, key: number,
                        row: ChangedCard(key: row.key, card: bytes).row(number: number), isLast: true))
            }
        }
        try write(changes, head)
    }

    private func write(_ changes: [LMDBEnvironment.Change], _ head: Head) throws(LogError) {
        let head = LMDBEnvironment.Change(key: 0, row: LMDBPeopleStore.bytes(head, hasChanges: !buffer.isEmpty))
        let rows = changes + [head]
        do throws(LMDBEnvironment.Failure) {
            let environment = try opened()
            try environment.write(rows)
            diskSize.note(rows, in: environment)
        } catch {
            throw unwritable(error)
        }
    }

    /// Takes the cards from the buffer that are merged beside a number of changes.
    private func takeMerged(besides changes: Int, into rows: inout [LMDBEnvironment.Change]) throws(LogError) {
        // The number of cards may have changed much since the last merge.
        if buffer.isDue { buffer.mergeMin = try mergeCount() }
        do throws(LMDBEnvironment.Failure) {
            for (key, number) in buffer.takeMerged(besides: changes) {
                guard let bytes = try changedCard(key, number) else { continue }
                // The buffer may still have rows of a removed card.
                rows.append(.init(table: key.slice + 1, key: key.serial, row: bytes, isPresent: true))
            }
        } catch {
            throw unreadable(error)
        }
        for number in buffer.takeRemoved(besides: changes) {
            rows.append(.init(table: LMDBPeopleStore.changeTable, key: number, row: nil))
        }
    }

    /// Merges all changed cards, so that the file has data of removed cards only in pages that LMDB reuses later.
    package func merge() throws(LogError) {
        while !buffer.isEmpty {
            buffer.begin()
            var changes: [LMDBEnvironment.Change] = []
            try takeMerged(besides: LMDBPeopleStore.rowsPerRead, into: &changes)
            try write(changes, head)
        }
        unknownChanges = 0
    }

    /// Reads the store anew after a failed call, which may have written its changes.
    ///
    /// - Returns: `true` if it has written them; all are durable then.
    private func isWritten(upTo position: LogPosition) throws(LogError) -> Bool {
        let found = try readHead()
        try readChanges()
        guard position > head.position, found.position == position else { return false }
        do throws(LMDBEnvironment.Failure) { try opened().sync() } catch { throw unwritable(error) }
        return true
    }

    package func card(_ key: CardKey) throws(LogError) -> Card? {
        let row: [UInt8]?
        do throws(LMDBEnvironment.Failure) { row = try opened().row(key.slice + 1, key.serial) } catch {
            throw unreadable(error)
        }
        guard let row else { return nil }
        let newest = try newest(row, of: key)
        return try? Card(newest, serial: key.serial)
    }

    /// Returns the card's row in the buffer; `nil` if the writing process has merged it.
    private func changedCard(_ key: CardKey, _ number: UInt64) throws(LMDBEnvironment.Failure) -> [UInt8]? {
        guard let row = try opened().row(LMDBPeopleStore.changeTable, number),
            let change = ChangedCard(row, number: number), change.key == key
        else { return nil }
        return change.card
    }

    package func count(slice: Int) throws(LogError) -> Int {
        do throws(LMDBEnvironment.Failure) { return try opened().count(in: slice + 1) } catch {
            throw unreadable(error)
        }
    }

    package func read(
        slice: Int, from serial: UInt64,
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError) {
        for _ in 0..<unknownChanges where slice == 0 && serial == 0 {
            guard try body(CardKey(slice: 0, serial: 0), .failure(.malformed("key"))) else { return }
        }
        var next = serial
        while true {
            var rows: [(serial: UInt64, bytes: [UInt8])] = []
            do throws(LMDBEnvironment.Failure) {
                try unsafe opened().scan(slice + 1, from: next) { found, row in
                    unsafe rows.append((found, Array(row)))
                    return rows.count < LMDBPeopleStore.rowsPerRead
                }
            } catch {
                throw unreadable(error)
            }
            for (serial, bytes) in rows {
                let key = CardKey(slice: slice, serial: serial)
                let newest = try newest(bytes, of: key)
                let card = Result { () throws(SerialError) in try Card(newest, serial: serial) }
                guard try body(key, card) else { return }
            }
            guard rows.count == LMDBPeopleStore.rowsPerRead, let last = rows.last?.serial, last < .max else { return }
            next = last + 1
        }
    }

    /// Returns the newest row of a card, from the row of its slice.
    private func newest(_ row: [UInt8], of key: CardKey) throws(LogError) -> [UInt8] {
        guard let number = buffer.number(of: key) else { return row }
        do throws(LMDBEnvironment.Failure) {
            // The slice has the row if the writing process has merged it.
            if let changed = try changedCard(key, number) { return changed }
            return try opened().row(key.slice + 1, key.serial) ?? row
        } catch {
            throw unreadable(error)
        }
    }

    private func unwritable(_ error: LMDBEnvironment.Failure) -> LogError {
        LogError("\(folder): cannot be written: \(error.reason) (\(error.call()))")
    }

    private func unreadable(_ error: LMDBEnvironment.Failure) -> LogError {
        // The next try opens LMDB anew.
        environment = nil
        return LogError("\(folder): cannot be read: \(error.reason) (\(error.call()))", error.causeOfReading)
    }

    // MARK: - Head

    private static func bytes(_ head: Head, hasChanges: Bool) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: hasChanges ? Head.formWithChanges : Head.form)
        writer.write(head.nextSerial)
        writer.write(head.position)
        return LogEntry.sealed(writer.bytes[...], at: 0)
    }

    private static func head(_ row: [UInt8]?, _ folder: String) throws(LogError) -> Head {
        guard let row else { return Head() }
        do throws(SerialError) {
            var reader = try SerialReader(sealed: row, at: 0)
            let form = try reader.byte()
            guard form <= Head.formWithChanges else { throw .newerForm(form, known: Head.formWithChanges) }
            let head = Head(nextSerial: try reader.unsigned(), position: try reader.unsigned())
            guard form > 0, reader.isAtEnd else { throw .malformed("head") }
            return head
        } catch {
            throw LogError(
                "\(folder): the head of the store: \(error); \(error.remedy)",
                error.isOfNewerRelease ? .newerRelease : .damaged)
        }
    }
}
