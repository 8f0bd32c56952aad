import Fanfare

/// Cards of a store on their way to the shards, to which they go one by one.
struct CardReading {
    /// The store's cards, as far as they have not been read.
    let unread: [LoadingQueue]
    /// Queues of the shards.
    let queues: [LoadingQueue]
    private var hasRead: [Bool]

    init(shards: Int) {
        queues = (0..<shards).map { _ in LoadingQueue(batchesMax: 1000) }
        unread = queues.map { _ in LoadingQueue(batchesMax: 1000) }
        hasRead = queues.map { _ in false }
    }

    /// Reads a card for each shard.
    ///
    /// - Returns: whether there is more to read.
    mutating func readOne() -> Bool {
        for index in queues.indices where !hasRead[index] {
            switch unread[index].next() {
            case .batch(var commands): queues[index].put(&commands)
            case .nothing, .end:
                hasRead[index] = true
                queues[index].finish()
            }
        }
        return hasRead.contains(false)
    }
}
