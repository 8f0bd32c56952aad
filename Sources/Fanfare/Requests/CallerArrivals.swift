/// Numbers of callers with a request that have begun to wait for room in the inbox so far.
struct CallerArrivals: Equatable {
    let requests, changes: UInt64
}
