import FanfareModel

/// Tags of reducers. A number never changes its meaning, because checkpoints of earlier releases contain it.
private enum ReducerTag: UInt8 { case unknown, patchesOnly, counting, football, transit, own = 255 }

extension SerialWriter {
    /// - Parameter present: reducer without facts by the present rules, which is to read what a reducer of the embedding program writes.
    /// - Returns: `false` if the reducer has no serial form.
    mutating func write(_ reducer: any Reducer, like present: any Reducer) -> Bool {
        switch reducer {
        case is KindUnknown: write(byte: ReducerTag.unknown.rawValue)
        case is PatchesOnly: write(byte: ReducerTag.patchesOnly.rawValue)
        case let reducer as CountingReducer:
            write(byte: ReducerTag.counting.rawValue)
            reducer.write(to: &self)
        case let reducer as FootballReducer:
            write(byte: ReducerTag.football.rawValue)
            reducer.write(to: &self)
        case let reducer as TransitReducer:
            write(byte: ReducerTag.transit.rawValue)
            reducer.write(to: &self)
        default:
            guard type(of: reducer) == type(of: present), let memory = reducer.memory else { return false }
            write(byte: ReducerTag.own.rawValue)
            write(bytes: memory)
        }
        return true
    }
}

extension SerialReader {
    /// - Parameter blank: reducer without facts of the topic's kind, which reads what a reducer of the embedding program has written.
    mutating func reducer(like blank: any Reducer) throws(SerialError) -> any Reducer {
        switch ReducerTag(rawValue: try byte()) {
        case .unknown: return KindUnknown()
        case .patchesOnly: return PatchesOnly()
        case .counting: return try CountingReducer(reading: &self)
        case .football: return try FootballReducer(reading: &self)
        case .transit: return try TransitReducer(reading: &self)
        case .own:
            var reducer = blank
            guard reducer.restore(try bytes()) else { throw .malformed("reducer") }
            return reducer
        case nil: throw .malformed("reducer")
        }
    }
}

extension Reducer {
    /// Is `true` for a reducer of this package.
    var isBuiltIn: Bool {
        self is KindUnknown || self is PatchesOnly || self is CountingReducer || self is FootballReducer
            || self is TransitReducer
    }
}
