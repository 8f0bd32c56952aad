import FanfareModel

/// A line with its time of delivery, which is later than its `at` if it was entered late.
struct FeedEntry {
    let delivered: FeedTime
    let line: JSONObject
}

extension [FeedEntry] {
    /// Writes the lines in order of delivery; lines delivered at the same time keep their order.
    func write<Failure: Error>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        let order = indices.sorted { (self[$0].delivered, $0) < (self[$1].delivered, $1) }
        var chunk: [UInt8] = []
        for index in order {
            self[index].line.write(to: &chunk)
            chunk.append(UInt8(ascii: "\n"))
            if chunk.count >= 1 << 16 {
                try sink(chunk)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        if !chunk.isEmpty { try sink(chunk) }
    }
}
