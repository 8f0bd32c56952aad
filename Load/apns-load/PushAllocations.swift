import CountAllocations

/// Numbers of allocations; OpenSSL's are counted separately.
struct PushAllocations {
    var ours: Double
    var openSSL: Double

    /// Returns the allocations of this thread so far.
    static func now() -> PushAllocations {
        let openSSL = allocations_of_this_thread_by_openssl()
        return PushAllocations(ours: Double(allocations_of_this_thread() - openSSL), openSSL: Double(openSSL))
    }
}
