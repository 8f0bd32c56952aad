import FanfareModel

/// Number of a log's records.
package struct RecordCounts: Sendable, Equatable {
    package var all: UInt64 = 0
    package var rejected: UInt64 = 0

    mutating func note(_ record: DecisionRecord) {
        all &+= 1
        if record.outcome == .rejected { rejected &+= 1 }
    }
}
