import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct ServiceReporterTests {
    @Test func aTroubleIsKeptAndReported() {
        var lines: [String] = []
        let reporter = ServiceReporter { lines.append($0) }
        reporter.trouble(.service, "answers 503", at: .after(.seconds(1)))
        #expect(lines == ["answers 503"] && reporter.service.health.trouble?.text == "answers 503")
        #expect(reporter.service.gate.isOpen && !reporter.service.isWell)
    }

    @Test func nothingIsPulledWithoutAJWT() {
        var lines: [String] = []
        let reporter = ServiceReporter { lines.append($0) }
        reporter.couldNotSign(CredentialsFault("no key"), at: .after(.seconds(1)))
        let trouble = reporter.service.health.trouble
        #expect(lines.count == 1 && lines.first == trouble?.text && trouble?.kind == .configuration)
        #expect(reporter.service.gate.closedUntil == .after(.seconds(1) + PullGate.faultWait))
    }
}
