internal import CFanfareLMDB
import FanfareModel
internal import Glibc

/// LMDB's C calls: one environment with tables whose keys are numbers.
///
/// `Sendable` is unchecked because its owner confines it to one thread at a time; LMDB's `MDB_NOTLS` lets that thread change.
@safe final class LMDBEnvironment: @unchecked Sendable {
    /// Call that failed, with LMDB's or the system's code.
    struct Failure: Error {
        let call: String
        let code: Int32

        static let removed = Failure(call: "data.mdb was removed", code: ENOENT)

        var isMapFull: Bool { code == MDB_MAP_FULL }

        /// Returns the failed call, with advice for a file that was removed: by default for a file that has a backup.
        func call(ifRemoved advice: String = "restore the folder from a backup and start again") -> String {
            call == Failure.removed.call ? "\(call); \(advice)" : call
        }

        /// Cause of a call that failed to open or to read: the file itself is wrong, or the system refuses the call.
        var causeOfReading: LogError.Cause {
            // A file of another version of LMDB is sound.
            if code == MDB_VERSION_MISMATCH { return .newerRelease }
            return [MDB_CORRUPTED, MDB_INVALID, MDB_PAGE_NOTFOUND, MDB_PANIC].contains(code) ? .damaged : .system
        }
        var reason: String {
            let reason = unsafe String(cString: mdb_strerror(code))
            // LMDB reports a page that was written in part, as on a disk without room for the rest, as this error.
            return code == EIO ? reason + ", or no space left" : reason
        }
    }

    private let environment: OpaquePointer
    /// Tables; `nil` for one that an earlier release has not made, if the environment is read-only.
    private let tables: [MDB_dbi?]
    /// Size of the address space for the tables. LMDB's file grows with its content, up to this size.
    private(set) var mapSize: ByteCount
    private var writes = 0
    /// Number of writes between two searches for dead readers.
    static let readerCheckInterval = 1000

    /// Row to be written: its table by index, and its key.
    struct Change {
        var table = 0
        var key: UInt64 = 0
        /// Content; `nil` to remove the row.
        var row: [UInt8]?
        /// Is `true` if the key follows all keys of its table, which is quicker and fills pages.
        var isLast = false
        /// Is `true` to replace a row that is there, and to make none.
        var isPresent = false
        /// Is `true` to remove all rows of the table instead.
        var isOfAll = false
    }

    /// - Parameters:
    ///   - folder: an existing folder.
    ///   - names: names of the tables; the environment's unnamed one alone if empty.
    ///   - newer: names of tables that stores of earlier releases lack. A reader sees these as empty.
    ///   - isOpenedAgain: `true` if this process has had the file open: a file that is missing now was removed, and a new one would lack its rows.
    init(
        folder: String, tables names: [String] = [], newer: Set<String> = [], mapSize: ByteCount, isReadOnly: Bool,
        isOpenedAgain: Bool = false
    ) throws(Failure) {
        self.mapSize = mapSize
        if isOpenedAgain {
            guard unsafe fanfare_file_bytes(folder + "/data.mdb") > 0 else { throw .removed }
        } else if !isReadOnly {
            try LMDBEnvironment.makeFile(in: folder, mapSize: mapSize)
        }
        var created: OpaquePointer?
        try unsafe LMDBEnvironment.check(mdb_env_create(&created), "mdb_env_create")
        guard let created = unsafe created else { throw Failure(call: "mdb_env_create", code: ENOMEM) }
        do throws(Failure) {
            try unsafe LMDBEnvironment.check(mdb_env_set_mapsize(created, mapSize.bytes), "mdb_env_set_mapsize")
            try unsafe LMDBEnvironment.check(mdb_env_set_maxdbs(created, MDB_dbi(names.count)), "mdb_env_set_maxdbs")
            let flags = UInt32(MDB_NOTLS) | (isReadOnly ? UInt32(MDB_RDONLY) : 0)
            try unsafe LMDBEnvironment.check(mdb_env_open(created, folder, flags, 0o600), "mdb_env_open")
            var info = unsafe MDB_envinfo()
            try unsafe LMDBEnvironment.check(mdb_env_info(created, &info), "mdb_env_info")
            self.mapSize = unsafe .bytes(info.me_mapsize)
            try unsafe LMDBEnvironment.checkLength(of: folder, info, created)
            try unsafe LMDBEnvironment.forgetDeadReaders(of: created)
            tables = try unsafe LMDBEnvironment.open(names, newer: newer, in: created, isReadOnly: isReadOnly)
        } catch {
            unsafe mdb_env_close(created)
            throw error
        }
        unsafe environment = created
    }

    deinit { unsafe mdb_env_close(environment) }

    /// Makes the file of a new environment, which gets its name when its first pages are on disk. LMDB does not sync them, and refuses a file
    /// of which a loss of power has left the second page alone.
    private static func makeFile(in folder: String, mapSize: ByteCount) throws(Failure) {
        let path = folder + "/data.mdb"
        guard unsafe fanfare_file_bytes(path) <= 0 else { return }
        let partial = path + ".partial"
        // An environment without a folder of its own has its locks in this file.
        let locks = partial + "-lock"
        for name in [partial, locks] { unsafe unlink(name) }
        var created: OpaquePointer?
        try unsafe check(mdb_env_create(&created), "mdb_env_create")
        do {
            defer { unsafe mdb_env_close(created) }
            try unsafe check(mdb_env_set_mapsize(created, mapSize.bytes), "mdb_env_set_mapsize")
            try unsafe check(
                mdb_env_open(created, partial, UInt32(MDB_NOTLS) | UInt32(MDB_NOSUBDIR), 0o600), "mdb_env_open")
            try unsafe check(mdb_env_sync(created, 1), "mdb_env_sync")
        }
        unsafe unlink(locks)
        guard unsafe rename(partial, path) == 0 else { throw Failure(call: "rename", code: errno) }
    }

    /// Copies an environment as of one moment into an empty file, without its free pages. A process may write to the environment meanwhile; this
    /// process must not have it open.
    static func copy(_ folder: String, to file: CInt) throws(Failure) {
        var created: OpaquePointer?
        try unsafe check(mdb_env_create(&created), "mdb_env_create")
        guard let created = unsafe created else { throw Failure(call: "mdb_env_create", code: ENOMEM) }
        defer { unsafe mdb_env_close(created) }
        try unsafe check(mdb_env_open(created, folder, UInt32(MDB_NOTLS) | UInt32(MDB_RDONLY), 0o600), "mdb_env_open")
        var info = unsafe MDB_envinfo()
        try unsafe check(mdb_env_info(created, &info), "mdb_env_info")
        try unsafe checkLength(of: folder, info, created)
        try unsafe forgetDeadReaders(of: created)
        let code = unsafe mdb_env_copyfd2(created, file, UInt32(MDB_CP_COMPACT))
        guard code == MDB_INCOMPATIBLE else { return try check(code, "mdb_env_copyfd2") }
        // The environment has pages that LMDB has lost: they are neither in use nor free. It is whole, and is copied with them.
        guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else {
            throw Failure(call: "ftruncate", code: errno)
        }
        try unsafe check(mdb_env_copyfd2(created, file, 0), "mdb_env_copyfd2")
    }

    private static func open(
        _ names: [String], newer: Set<String>, in environment: OpaquePointer, isReadOnly: Bool
    ) throws(Failure) -> [MDB_dbi?] {
        let transaction = try unsafe begin(in: environment, isReadOnly: isReadOnly)
        let flags = UInt32(MDB_INTEGERKEY) | (isReadOnly || names.isEmpty ? 0 : UInt32(MDB_CREATE))
        var tables: [MDB_dbi?] = []
        for name in names.isEmpty ? [nil] : names.map(Optional.some) {
            var table = MDB_dbi()
            let code = unsafe mdb_dbi_open(transaction, name, flags, &table)
            if isReadOnly, code == MDB_NOTFOUND, let name, newer.contains(name) {
                tables.append(nil)
                continue
            }
            guard code == 0 else {
                unsafe mdb_txn_abort(transaction)
                throw Failure(call: "mdb_dbi_open", code: code)
            }
            tables.append(table)
        }
        try unsafe check(mdb_txn_commit(transaction), "mdb_txn_commit")
        return tables
    }

    /// Refuses a file that was cut short: LMDB would read its missing pages from memory that does not exist, which ends the process.
    private static func checkLength(
        of folder: String, _ info: MDB_envinfo, _ environment: OpaquePointer
    ) throws(Failure) {
        var statistics = MDB_stat()
        try unsafe check(mdb_env_stat(environment, &statistics), "mdb_env_stat")
        // A new environment has no file of that length before its first commit.
        let bytes = unsafe Int(fanfare_file_bytes(folder + "/data.mdb"))
        guard unsafe info.me_last_txnid > 0, bytes >= 0 else { return }
        let needed = unsafe (info.me_last_pgno + 1) * Int(statistics.ms_psize)
        guard bytes >= needed else { throw Failure(call: "data.mdb is cut short", code: MDB_CORRUPTED) }
    }

    /// Forgets readers of ended processes. Each of them would keep LMDB from reusing freed pages, so the file would grow without bound.
    private static func forgetDeadReaders(of environment: OpaquePointer) throws(Failure) {
        try unsafe check(mdb_reader_check(environment, nil), "mdb_reader_check")
    }

    private static func begin(in environment: OpaquePointer, isReadOnly: Bool) throws(Failure) -> OpaquePointer {
        var transaction: OpaquePointer?
        let flags = isReadOnly ? UInt32(MDB_RDONLY) : 0
        var code = unsafe mdb_txn_begin(environment, nil, flags, &transaction)
        if code == MDB_MAP_RESIZED {
            // Another process has enlarged the map.
            try unsafe check(mdb_env_set_mapsize(environment, 0), "mdb_env_set_mapsize")
            code = unsafe mdb_txn_begin(environment, nil, flags, &transaction)
        }
        try check(code, "mdb_txn_begin")
        guard let transaction = unsafe transaction else { throw Failure(call: "mdb_txn_begin", code: ENOMEM) }
        return unsafe transaction
    }

    private static func check(_ code: Int32, _ call: String) throws(Failure) {
        guard code == 0 else { throw Failure(call: call, code: code) }
    }

    /// Size of the file, with pages that LMDB uses again; zero if LMDB does not tell it.
    var fileSize: ByteCount {
        var info = unsafe MDB_envinfo()
        var statistics = MDB_stat()
        guard unsafe mdb_env_info(environment, &info) == 0, unsafe mdb_env_stat(environment, &statistics) == 0 else {
            return .zero
        }
        let bytes = unsafe (info.me_last_pgno + 1) * Int(statistics.ms_psize)
        return .bytes(bytes)
    }

    // MARK: - Rows

    /// Writes the changes, in order. All are on disk when the call returns, or none of them is. No transaction of this environment may
    /// be open.
    func write(_ changes: [Change]) throws(Failure) {
        try checkFile()
        writes += 1
        if writes.isMultiple(of: LMDBEnvironment.readerCheckInterval) {
            try unsafe LMDBEnvironment.forgetDeadReaders(of: environment)
        }
        while true {
            do throws(Failure) {
                return try commit(changes)
            } catch {
                guard error.isMapFull else { throw error }
                let larger = mapSize * 2
                try unsafe LMDBEnvironment.check(
                    mdb_env_set_mapsize(environment, larger.bytes), "mdb_env_set_mapsize")
                mapSize = larger
            }
        }
    }

    /// Refuses to write to a removed file, whose content is lost with the process.
    private func checkFile() throws(Failure) {
        var descriptor = mdb_filehandle_t(-1)
        try unsafe LMDBEnvironment.check(mdb_env_get_fd(environment, &descriptor), "mdb_env_get_fd")
        let names = fanfare_file_names(descriptor)
        guard names >= 0 else { throw Failure(call: "fstat", code: errno) }
        guard names > 0 else { throw .removed }
    }

    /// Makes all writes durable.
    func sync() throws(Failure) { try unsafe LMDBEnvironment.check(mdb_env_sync(environment, 1), "mdb_env_sync") }

    private func commit(_ changes: [Change]) throws(Failure) {
        let transaction = try unsafe LMDBEnvironment.begin(in: environment, isReadOnly: false)
        for change in changes {
            let code = unsafe make(change, in: transaction)
            guard code == 0 else {
                unsafe mdb_txn_abort(transaction)
                throw Failure(call: change.row == nil ? "mdb_del" : "mdb_put", code: code)
            }
        }
        // A commit that fails leaves nothing of the transaction, and frees it.
        try unsafe LMDBEnvironment.check(mdb_txn_commit(transaction), "mdb_txn_commit")
    }

    private func make(_ change: Change, in transaction: OpaquePointer) -> Int32 {
        var key = change.key
        guard let table = tables[change.table] else { return MDB_BAD_DBI }
        return unsafe withUnsafeMutableBytes(of: &key) { keyBytes in
            if change.isOfAll { return unsafe mdb_drop(transaction, table, 0) }
            var name = unsafe MDB_val(mv_size: keyBytes.count, mv_data: keyBytes.baseAddress)
            guard let row = change.row else {
                let code = unsafe mdb_del(transaction, table, &name, nil)
                return code == MDB_NOTFOUND ? 0 : code
            }
            if change.isPresent {
                var present = unsafe MDB_val()
                let code = unsafe mdb_get(transaction, table, &name, &present)
                guard code == 0 else { return code == MDB_NOTFOUND ? 0 : code }
            }
            return unsafe row.withUnsafeBytes { rowBytes in
                // LMDB copies the row and does not write to it.
                var value = unsafe MDB_val(
                    mv_size: rowBytes.count, mv_data: UnsafeMutableRawPointer(mutating: rowBytes.baseAddress))
                return unsafe mdb_put(transaction, table, &name, &value, change.isLast ? UInt32(MDB_APPEND) : 0)
            }
        }
    }

    /// Number of rows of a table.
    func count(in table: Int) throws(Failure) -> Int {
        guard let table = tables[table] else { return 0 }
        let transaction = try unsafe LMDBEnvironment.begin(in: environment, isReadOnly: true)
        defer { unsafe mdb_txn_abort(transaction) }
        var statistics = MDB_stat()
        try unsafe LMDBEnvironment.check(mdb_stat(transaction, table, &statistics), "mdb_stat")
        return statistics.ms_entries
    }

    /// Key of the first row; 1 without rows.
    func firstKey() throws(Failure) -> UInt64 {
        var first: UInt64 = 1
        try unsafe scan(from: 0) { key, _ in
            first = key
            return false
        }
        return first
    }

    /// Key of the last row; 0 without rows.
    func lastKey(of table: Int = 0) throws(Failure) -> UInt64 {
        var last: UInt64 = 0
        try unsafe scan(table, from: nil) { key, _ in
            last = key
            return false
        }
        return last
    }

    /// Returns the row with that key; `nil` if there is none.
    func row(_ table: Int, _ key: UInt64) throws(Failure) -> [UInt8]? {
        var bytes: [UInt8]?
        try unsafe scan(table, from: key) { found, row in
            if found == key { bytes = unsafe Array(row) }
            return false
        }
        return bytes
    }

    /// Calls the closure with each row from a key on, in order, until it returns `false`; with the last row alone for `nil`. The
    /// bytes are valid during the call only.
    func scan(
        _ table: Int = 0, from key: UInt64?, _ body: (UInt64, UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) {
        guard let table = tables[table] else { return }
        let transaction = try unsafe LMDBEnvironment.begin(in: environment, isReadOnly: true)
        defer { unsafe mdb_txn_abort(transaction) }
        var opened: OpaquePointer?
        try unsafe LMDBEnvironment.check(mdb_cursor_open(transaction, table, &opened), "mdb_cursor_open")
        guard let cursor = unsafe opened else { throw Failure(call: "mdb_cursor_open", code: ENOMEM) }
        defer { unsafe mdb_cursor_close(cursor) }
        var wanted = key ?? 0
        var name = unsafe MDB_val()
        var value = unsafe MDB_val()
        var code = unsafe withUnsafeMutableBytes(of: &wanted) { bytes in
            unsafe name = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            return unsafe mdb_cursor_get(cursor, &name, &value, key == nil ? MDB_LAST : MDB_SET_RANGE)
        }
        while code == 0 {
            // A key of another size cannot be in a table of integer keys, except in a damaged file.
            guard unsafe name.mv_size == MemoryLayout<UInt64>.size, let keyBytes = unsafe name.mv_data else {
                throw Failure(call: "mdb_cursor_get", code: MDB_CORRUPTED)
            }
            let found = unsafe keyBytes.loadUnaligned(as: UInt64.self)
            guard unsafe body(found, UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)) else { return }
            code = unsafe mdb_cursor_get(cursor, &name, &value, MDB_NEXT)
        }
        guard code == MDB_NOTFOUND else { throw Failure(call: "mdb_cursor_get", code: code) }
    }
}
