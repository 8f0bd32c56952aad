import FanfareModel

/// Layer that keeps what the answers say of the service, and tells operators about its troubles.
final class ServiceReporter {
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) var service = ServiceRecord()
    private let reports: OperatorReports

    init(_ onReport: @escaping (String) -> Void) { reports = OperatorReports(onReport) }

    func report(_ text: String, at now: MonotonicTime) { reports.report(text, at: now) }

    /// Notes and reports a trouble.
    func trouble(_ kind: PoolTrouble.Kind, _ text: String, at now: MonotonicTime) {
        service.health.note(kind, text, at: now)
        report(text, at: now)
    }

    /// Reports that every push would fail alike until an operator acts.
    func stopped(_ text: String, at now: MonotonicTime) {
        trouble(.configuration, "\(text); pushing has stopped, one is tried each minute", at: now)
    }

    func couldNotSign(_ error: any Error, at now: MonotonicTime) {
        service.shut(at: now)
        stopped("no JWT could be signed: \(error)", at: now)
    }
}
