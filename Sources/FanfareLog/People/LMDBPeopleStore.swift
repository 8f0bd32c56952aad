internal import CFanfareLMDB
package import FanfareModel
internal import Glibc

/// Store of people in a folder, by LMDB: a table for each slice, whose keys are serials, and one row that says how far the store is.
/// Each `apply` is one transaction with one sync.
///
/// One process writes to a folder at a time; others may read it meanwhile. `Sendable` is unchecked because `PeopleStore` confines it to
/// one thread at a time.
package final class LMDBPeopleStore: PeopleStore, @unchecked Sendable {
    /// Row that says how far the store is.
    private struct Head {
        static let form: UInt8 = 1
        var nextSerial: UInt64 = 1
        var position: LogPosition = 0
    }

    package let folder: String
    /// `nil` after a write that failed, until the next call.
    private var environment: LMDBEnvironment?
    private let mapBytes: Int
    private let isReadOnly: Bool
    /// Lock of the folder; `nil` for a reader.
    private let lock: StoreFolder?
    private var head: Head
    /// Is `true` from a write that failed to the next one that does not.
    private var hasFailed = false

    package var position: LogPosition { head.position }
    package var nextSerial: UInt64 { head.nextSerial }

    private static let tables = ["head"] + (0..<Card.slices).map { "slice \($0)" }
    /// Rows per transaction of a reader. A transaction that stays open keeps LMDB from using pages again.
    private static let rowsPerRead = 1000

    /// Returns `true` if a store has people, be they none.
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
    package init(
        store: String, isReadOnly: Bool = false, mapBytes: Int = LMDBLog.mapBytesFirst
    ) throws(LogError) {
        folder = store + "/people"
        self.mapBytes = mapBytes
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
            throw LogError("\(folder): cannot be opened as a store: \(error.reason) (\(error.call))")
        }
        head = try readHead()
        if !isReadOnly { try StoreFolder.syncNames(folder) }
    }

    private func opened() throws(LMDBEnvironment.Failure) -> LMDBEnvironment {
        if let environment { return environment }
        let opened = try LMDBEnvironment(
            folder: folder, tables: LMDBPeopleStore.tables, mapBytes: mapBytes, isReadOnly: isReadOnly)
        environment = opened
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

    package func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
        var rows: [LMDBEnvironment.Change] = []
        rows.reserveCapacity(changes.count + 1)
        var head = Head(nextSerial: head.nextSerial, position: position)
        for change in changes {
            try change.check()
            switch change {
            case .insert(let card):
                let slice = Card.slice(ofSubscriber: card.subscriber, token: card.token)
                rows.append(try row(card, CardKey(slice: slice, serial: head.nextSerial), isLast: true))
                head.nextSerial += 1
            case .replace(let key, let card): rows.append(try row(card, key, isLast: false))
            case .remove(let key): rows.append(.init(table: key.slice + 1, key: key.serial, row: nil))
            }
        }
        rows.append(.init(key: 0, row: LMDBPeopleStore.bytes(head)))
        do throws(LMDBEnvironment.Failure) {
            // A commit that has failed may have been written all the same.
            if hasFailed, position > self.head.position, try isWritten(position) {
                try opened().sync()
            } else {
                try opened().write(rows)
            }
        } catch {
            // LMDB refuses all further writes of an environment after some failures, so the next try opens it anew.
            environment = nil
            hasFailed = true
            throw LogError("\(folder): cannot be written: \(error.reason) (\(error.call))")
        }
        self.head = head
        hasFailed = false
    }

    /// Is `true` if a commit that reported a failure has been written all the same; it is not durable yet.
    private func isWritten(_ position: LogPosition) throws(LMDBEnvironment.Failure) -> Bool {
        do throws(LogError) { return try readHead().position == position } catch {
            throw LMDBEnvironment.Failure(call: error.description, code: EIO)
        }
    }

    package func card(_ key: CardKey) throws(LogError) -> Card? {
        var bytes: [UInt8]?
        do throws(LMDBEnvironment.Failure) {
            try unsafe opened().scan(key.slice + 1, from: key.serial) { found, row in
                if found == key.serial { bytes = unsafe Array(row) }
                return false
            }
        } catch {
            throw unreadable(error)
        }
        guard let bytes else { return nil }
        do throws(SerialError) { return try Card(bytes, serial: key.serial) } catch { return nil }
    }

    private func row(_ card: Card, _ key: CardKey, isLast: Bool) throws(LogError) -> LMDBEnvironment.Change {
        let bytes = card.bytes(serial: key.serial)
        guard bytes.count <= Card.bytesMax else {
            throw LogError(
                "a card of \(bytes.count) bytes is too large for the store, which takes \(Card.bytesMax)", .entry
            )
        }
        return .init(table: key.slice + 1, key: key.serial, row: bytes, isLast: isLast)
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
                let card = Result { () throws(SerialError) in try Card(bytes, serial: serial) }
                guard try body(CardKey(slice: slice, serial: serial), card) else { return }
            }
            guard rows.count == LMDBPeopleStore.rowsPerRead, let last = rows.last?.serial, last < .max else { return }
            next = last + 1
        }
    }

    private func unreadable(_ error: LMDBEnvironment.Failure) -> LogError {
        LogError("\(folder): cannot be read: \(error.reason) (\(error.call))")
    }

    // MARK: - Head

    private static func bytes(_ head: Head) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: Head.form)
        writer.write(head.nextSerial)
        writer.write(head.position)
        return LogEntry.sealed(writer.bytes[...], at: 0)
    }

    private static func head(_ row: [UInt8]?, _ folder: String) throws(LogError) -> Head {
        guard let row else { return Head() }
        do throws(SerialError) {
            var reader = try SerialReader(sealed: row, at: 0)
            let form = try reader.byte()
            guard form <= Head.form else { throw .newerForm(form, known: Head.form) }
            let head = Head(nextSerial: try reader.unsigned(), position: try reader.unsigned())
            guard form > 0, reader.isAtEnd else { throw .malformed("head") }
            return head
        } catch {
            throw LogError("\(folder): the head of the store: \(error); \(error.remedy)")
        }
    }
}
