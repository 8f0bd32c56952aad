/// The connections of a simulator of which not everything has been read, by id.
struct ConnectionTable {
    private(set) var all: [UInt32: Connection] = [:]
    private var made: UInt32 = 0

    mutating func nextID() -> UInt32 {
        made &+= 1
        return made
    }

    subscript(id: UInt32) -> Connection? {
        get { all[id] }
        set { all[id] = newValue }
    }
}
