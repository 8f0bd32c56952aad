internal import CFanfareLMDB
internal import Glibc

/// LMDB's C calls: one environment with one table, whose keys are positions.
///
/// `Sendable` is unchecked because its owner confines it to one thread at a time; LMDB's `MDB_NOTLS` lets that thread change.
final class LMDBEnvironment: @unchecked Sendable {
    /// Call that failed, with LMDB's or the system's code.
    struct Failure: Error {
        let call: String
        let code: Int32

        var isMapFull: Bool { code == MDB_MAP_FULL }
        var reason: String { String(cString: mdb_strerror(code)) }
    }

    private let environment: OpaquePointer
    private let table: MDB_dbi
    /// Bytes of address space for the table. LMDB's file grows with its content, up to this size.
    private(set) var mapBytes: Int

    /// - Parameter folder: an existing folder.
    init(folder: String, mapBytes: Int, isReadOnly: Bool) throws(Failure) {
        self.mapBytes = mapBytes
        var created: OpaquePointer?
        try LMDBEnvironment.check(mdb_env_create(&created), "mdb_env_create")
        guard let created else { throw Failure(call: "mdb_env_create", code: ENOMEM) }
        do throws(Failure) {
            try LMDBEnvironment.check(mdb_env_set_mapsize(created, mapBytes), "mdb_env_set_mapsize")
            let flags = UInt32(MDB_NOTLS) | (isReadOnly ? UInt32(MDB_RDONLY) : 0)
            try LMDBEnvironment.check(mdb_env_open(created, folder, flags, 0o600), "mdb_env_open")
            var info = MDB_envinfo()
            try LMDBEnvironment.check(mdb_env_info(created, &info), "mdb_env_info")
            self.mapBytes = info.me_mapsize
            try LMDBEnvironment.checkLength(of: folder, info, created)
            try LMDBEnvironment.forgetDeadReaders(of: created)
            table = try LMDBEnvironment.openTable(in: created, isReadOnly: isReadOnly)
        } catch {
            mdb_env_close(created)
            throw error
        }
        environment = created
    }

    deinit { mdb_env_close(environment) }

    private static func openTable(in environment: OpaquePointer, isReadOnly: Bool) throws(Failure) -> MDB_dbi {
        let transaction = try begin(in: environment, isReadOnly: isReadOnly)
        var table = MDB_dbi()
        let code = mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY), &table)
        guard code == 0 else {
            mdb_txn_abort(transaction)
            throw Failure(call: "mdb_dbi_open", code: code)
        }
        try check(mdb_txn_commit(transaction), "mdb_txn_commit")
        return table
    }

    /// Refuses a file that was cut short: LMDB would read its missing pages from memory that does not exist, which ends the process.
    private static func checkLength(
        of folder: String, _ info: MDB_envinfo, _ environment: OpaquePointer
    ) throws(Failure) {
        var (file, statistics) = (stat(), MDB_stat())
        try check(mdb_env_stat(environment, &statistics), "mdb_env_stat")
        // A new environment has no file of that length before its first commit.
        guard info.me_last_txnid > 0, stat(folder + "/data.mdb", &file) == 0 else { return }
        let needed = (info.me_last_pgno + 1) * Int(statistics.ms_psize)
        guard file.st_size >= needed else { throw Failure(call: "data.mdb is cut short", code: MDB_CORRUPTED) }
    }

    /// Forgets readers whose process has ended. Each of them would keep LMDB from using again what it freed since, so the file would grow
    /// without bound.
    func forgetDeadReaders() throws(Failure) { try LMDBEnvironment.forgetDeadReaders(of: environment) }

    private static func forgetDeadReaders(of environment: OpaquePointer) throws(Failure) {
        try check(mdb_reader_check(environment, nil), "mdb_reader_check")
    }

    private static func begin(in environment: OpaquePointer, isReadOnly: Bool) throws(Failure) -> OpaquePointer {
        var transaction: OpaquePointer?
        let flags = isReadOnly ? UInt32(MDB_RDONLY) : 0
        var code = mdb_txn_begin(environment, nil, flags, &transaction)
        if code == MDB_MAP_RESIZED {
            // Another process has enlarged the map.
            try check(mdb_env_set_mapsize(environment, 0), "mdb_env_set_mapsize")
            code = mdb_txn_begin(environment, nil, flags, &transaction)
        }
        try check(code, "mdb_txn_begin")
        guard let transaction else { throw Failure(call: "mdb_txn_begin", code: ENOMEM) }
        return transaction
    }

    private static func check(_ code: Int32, _ call: String) throws(Failure) {
        guard code == 0 else { throw Failure(call: call, code: code) }
    }

    // MARK: - Rows

    /// Appends rows behind all others. They are on disk when the call returns, or none of them is.
    func append(_ rows: [[UInt8]], from first: UInt64) throws(Failure) {
        let transaction = try LMDBEnvironment.begin(in: environment, isReadOnly: false)
        var key = first
        for row in rows {
            let code = put(row, at: key, in: transaction)
            guard code == 0 else {
                mdb_txn_abort(transaction)
                throw Failure(call: "mdb_put", code: code)
            }
            key += 1
        }
        // A commit that fails leaves nothing of the transaction, and frees it.
        try LMDBEnvironment.check(mdb_txn_commit(transaction), "mdb_txn_commit")
    }

    private func put(_ row: [UInt8], at key: UInt64, in transaction: OpaquePointer) -> Int32 {
        var key = key
        return withUnsafeMutableBytes(of: &key) { keyBytes in
            row.withUnsafeBytes { rowBytes in
                var name = MDB_val(mv_size: keyBytes.count, mv_data: keyBytes.baseAddress)
                // LMDB copies the row and does not write to it.
                var value = MDB_val(
                    mv_size: rowBytes.count, mv_data: UnsafeMutableRawPointer(mutating: rowBytes.baseAddress))
                return mdb_put(transaction, table, &name, &value, UInt32(MDB_APPEND))
            }
        }
    }

    /// Enlarges the address space. No transaction of this environment may be open.
    func grow(to bytes: Int) throws(Failure) {
        try LMDBEnvironment.check(mdb_env_set_mapsize(environment, bytes), "mdb_env_set_mapsize")
        mapBytes = bytes
    }

    /// Key of the last row; 0 without rows.
    func lastKey() throws(Failure) -> UInt64 {
        var last: UInt64 = 0
        try scan(from: nil) { key, _ in
            last = key
            return false
        }
        return last
    }

    /// Calls the closure with each row from a key on, in order, until it returns `false`; with the last row alone for `nil`. The
    /// bytes are valid during the call only.
    func scan(from key: UInt64?, _ body: (UInt64, UnsafeRawBufferPointer) -> Bool) throws(Failure) {
        let transaction = try LMDBEnvironment.begin(in: environment, isReadOnly: true)
        defer { mdb_txn_abort(transaction) }
        var opened: OpaquePointer?
        try LMDBEnvironment.check(mdb_cursor_open(transaction, table, &opened), "mdb_cursor_open")
        guard let cursor = opened else { throw Failure(call: "mdb_cursor_open", code: ENOMEM) }
        defer { mdb_cursor_close(cursor) }
        var wanted = key ?? 0
        var name = MDB_val()
        var value = MDB_val()
        var code = withUnsafeMutableBytes(of: &wanted) { bytes in
            name = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            return mdb_cursor_get(cursor, &name, &value, key == nil ? MDB_LAST : MDB_SET_RANGE)
        }
        while code == 0 {
            // A key of another size cannot be in a table of integer keys, except in a damaged file.
            guard name.mv_size == MemoryLayout<UInt64>.size, let keyBytes = name.mv_data else {
                throw Failure(call: "mdb_cursor_get", code: MDB_CORRUPTED)
            }
            let found = keyBytes.loadUnaligned(as: UInt64.self)
            guard body(found, UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)) else { return }
            code = mdb_cursor_get(cursor, &name, &value, MDB_NEXT)
        }
        guard code == MDB_NOTFOUND else { throw Failure(call: "mdb_cursor_get", code: code) }
    }
}
