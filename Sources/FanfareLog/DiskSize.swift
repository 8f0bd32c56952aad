package import FanfareModel

/// Bytes of one part of a store: its log, its people or its claims. All are zero for a part in memory.
package struct DiskSize: Sendable, Equatable {
    /// Size of the rows that were written since the store was opened, without the pages in which LMDB keeps them.
    package var written = ByteCount.zero
    /// Size of the file, with pages that LMDB uses again.
    package var file = ByteCount.zero
    /// Size of the address space into which the file is mapped; LMDB doubles it once it is full.
    package var map = ByteCount.zero

    package init() {}

    /// Notes the size of an environment that has just been opened, or has just taken changes.
    mutating func note(_ changes: [LMDBEnvironment.Change] = [], in environment: LMDBEnvironment) {
        written += .bytes(changes.reduce(0) { $0 + ($1.row?.count ?? 0) })
        (file, map) = (environment.fileSize, environment.mapSize)
    }
}
