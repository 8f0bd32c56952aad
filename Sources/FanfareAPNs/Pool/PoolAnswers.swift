import FanfareFanOut
import FanfareHTTP2
import FanfareModel

/// Layer that handles the ends of requests: decides what an answer means for the push, its connection, the key and the service.
final class PoolAnswers {
    private let configuration: PoolConfiguration
    private let reporter: ServiceReporter
    private let upkeep: ConnectionUpkeep
    private let exchange: DeliveryExchange
    private let tokens: TokenUse
    private var random = SystemRandomNumberGenerator()

    init(
        _ configuration: PoolConfiguration, _ exchange: DeliveryExchange, _ tokens: TokenUse,
        _ upkeep: ConnectionUpkeep,
        _ reporter: ServiceReporter
    ) {
        self.configuration = configuration
        self.exchange = exchange
        self.tokens = tokens
        self.upkeep = upkeep
        self.reporter = reporter
    }

    private func finish(_ request: SentRequest, _ outcome: DeliveryOutcome) {
        reporter.service.ended(request)
        exchange.finish(request, outcome)
    }

    func accepted(_ request: SentRequest, at moment: Moment) {
        if let failure = answered(request) { refute(failure, at: moment.monotonic) }
        finish(request, .accepted)
    }

    /// Records that the service works and accepts our JWT.
    ///
    /// - Returns: the activity's earlier failure, if it was on one connection only.
    @discardableResult
    private func answered(_ request: SentRequest) -> Suspects.Failure? {
        tokens.noteAccepted(request.tokenSerial)
        return reporter.service.answered(request)
    }

    func notProcessed(_ request: SentRequest) { finish(request, .notProcessed) }

    func lost(_ request: SentRequest) { finish(request, .uncertain) }

    /// Handles a stream that was reset, by the peer or by us after a timeout. Only the activity itself waits if its stream
    /// is refused again.
    func reset(_ request: SentRequest, _ code: ErrorCode, on connection: Connection, at moment: Moment) {
        let now = moment.monotonic
        let isOverdue = now - request.sentAt >= configuration.requestTimeout
        let evidence = reporter.service.failReset(request, on: connection.serial, isOverdue: isOverdue, at: now)
        connection.record.noteError(evidence)
        if code == .refusedStream {
            finish(request, evidence == .service ? .notProcessed : .serviceError)
        } else {
            lost(request)
        }
        // A peer that gives no window back leaves bodies unsent; that is as much a doubt about the connection as a missing answer.
        if code != .refusedStream || isOverdue { connection.lost(request, evidence, isOverdue: isOverdue) }
        let what = isOverdue ? "leaves requests unanswered" : "resets requests (\(code))"
        // Without a pause, a server that resets everything would be asked again once per round trip.
        noteTrouble(evidence, "\(configuration.endpoint) \(what)", of: request, at: now)
        doubt(connection, what, at: now)
    }

    /// Records a failed push for which the service may be responsible.
    private func noteTrouble(
        _ evidence: FailureEvidence, _ text: String, of request: SentRequest, at now: MonotonicTime
    ) {
        guard reporter.service.noteTrouble(evidence, of: request, at: now, using: &random) else { return }
        reporter.trouble(.service, "\(text); pushes wait and go on when it recovers", at: now)
    }

    func refused(
        _ request: SentRequest, status: Int, body: ErrorBody, on connection: Connection, at moment: Moment
    ) {
        let now = moment.monotonic
        let rule = ResponseRule.rule(status: status, reason: body.reason)
        let isFirst = exchange.noteAnswer(status: status, reason: rule.reason)
        let answer = "\(configuration.endpoint) answers \(status) \(rule.reason)"
        switch rule.class {
        case .accepted: accepted(request, at: moment)  // 200 does not reach this method
        case .deadToken, .requestFault:
            connection.record.finalAnswers.note(isFinal: true)
            if upkeep.connections.isAlone(connection), !reporter.service.isConfirmed(request, on: connection.serial) {
                // The connection is broken only if another one accepts the push: all tokens of one topic may really be dead.
                connection.record.noteUnconfirmed()
                finish(request, .serviceError)
            } else {
                end(request, rule, on: connection)
                if isFirst, rule.class == .requestFault {
                    reporter.report("\(answer): such pushes are given up", at: now)
                }
            }
        case .throttled:
            connection.didSucceed()
            answered(request)
            if reporter.service.noteThrottled(answered: exchange.statistics.answered, at: now) {
                reporter.report(
                    "\(answer) to most pushes; they go again later. A longer minimumInterval in the rules sends fewer",
                    at: now)
            }
            finish(request, .throttled)
        case .retryLater:
            finish(request, .serviceError)
            let evidence = reporter.service.fail(request, on: connection.serial)
            connection.record.noteError(evidence)
            noteTrouble(evidence, answer, of: request, at: now)
            doubt(connection, "answers every request \(status) \(rule.reason)", at: now)
        case .reconnect:
            notProcessed(request)
            if isFirst { reporter.report("\(answer); the connection is replaced", at: now) }
            upkeep.replaceInVain(connection, answer, status == 403 ? .configuration : .service, at: moment)
        case .refreshToken:
            notProcessed(request)
            if replaceToken(of: request, as: .expired, on: connection, answer, at: moment) { return }
            connection.refused(reporter.service.fail(request, on: connection.serial))
            if fault(of: request, isEvidence: true, on: connection, at: now) {
                reporter.stopped("\(answer) to a JWT minted just now: check this machine's clock", at: now)
            }
        case .configurationFault where tokens.isOfFormerKey(request.tokenSerial):
            // The request was sent before the key changed; its fault says nothing about the current key.
            notProcessed(request)
        case .configurationFault, .stranger:
            // Another time may repair the fault.
            if rule.mayBeForTheTime, replaceToken(of: request, as: .invalid, on: connection, answer, at: moment) {
                return notProcessed(request)
            }
            refuseAll(request, status: status, rule, answer, on: connection, at: now)
        }
    }

    /// Handles an answer that every push would get, because of a wrong configuration or from a server that is not APNs.
    private func refuseAll(
        _ request: SentRequest, status: Int, _ rule: ResponseRule, _ answer: String, on connection: Connection,
        at now: MonotonicTime
    ) {
        // Nothing was processed. The returned activities are behind again, and the gate keeps their pushes from leaving at once.
        let failure = reporter.service.failAlike(request, on: connection.serial, at: now)
        if rule.class == .stranger, failure.evidence == .activity, !failure.isEverybodys {
            finish(request, .refused)
        } else {
            finish(request, failure.isEverybodys ? .notProcessed : .serviceError)
        }
        // One connection alone may have reached a stranger, or a server that does not know us.
        if rule.class == .stranger {
            connection.record.noteError(failure.evidence)
            doubt(connection, "answers every request \(status)", at: now)
        } else {
            connection.refused(failure.evidence)
        }
        let text = rule.advice.map { "\(answer): \($0)" } ?? answer
        let hasStopped = fault(of: request, isEvidence: failure.isEvidence, on: connection, at: now)
        if rule.class == .stranger || hasStopped || reporter.service.gate.isEverybodys(of: upkeep.connections.openCount)
        {
            reporter.report(text, at: now)
        }
        if hasStopped { reporter.stopped(text, at: now) }
    }

    /// Ends a request whose answer is final and concerns the request alone.
    private func end(_ request: SentRequest, _ rule: ResponseRule, on connection: Connection) {
        connection.didSucceed()
        if rule.class == .deadToken {
            answered(request)
            finish(request, .deadToken)
        } else {
            reporter.service.clear(request)
            finish(request, .refused)
        }
    }

    /// - Returns: `true` if the fault stops all pushes.
    private func fault(
        of request: SentRequest, isEvidence: Bool, on connection: Connection, at now: MonotonicTime
    ) -> Bool {
        reporter.service.fault(
            of: request, isEvidence: isEvidence, on: connection.serial, of: upkeep.connections.openCount, at: now,
            using: &random)
    }

    /// Handles a refusal of the request's JWT.
    /// - Returns: `true` if there is another JWT to try; `false` leaves the fault to operators.
    private func replaceToken(
        of request: SentRequest, as refusal: ProviderToken.Refusal, on connection: Connection,
        _ answer: String, at moment: Moment
    ) -> Bool {
        do {
            switch try tokens.refused(request.tokenSerial, as: refusal, at: moment) {
            case .none:
                if refusal == .expired { connection.record.hasSeenExpiredJWT = true }
                return false
            case .anotherKey(let key):
                changeKey(to: key, at: moment)
                return true
            case .newIssue: break
            case .anotherTime:
                let text = "\(answer): pushes go by another time than before; check this machine's clock"
                reporter.report(text, at: moment.monotonic)
            }
            // Some of APNs' servers keep refusing on a connection that has seen an expired JWT (spec §7), and none accepts
            // several JWTs in a short time.
            upkeep.replace(connection, at: moment)
        } catch {
            reporter.couldNotSign(error, at: moment.monotonic)
        }
        return true
    }

    // MARK: Connections in doubt

    /// Replaces a connection that brings nothing but errors, because another one may reach a healthier server. It stays
    /// until the other one may open: a push may still be tried on it.
    private func doubt(_ connection: Connection, _ what: String, at now: MonotonicTime) {
        guard connection.record.isInDoubt, upkeep.replaceLater(connection, at: now) else { return }
        reporter.report("\(configuration.endpoint) \(what) on a connection; it is replaced", at: now)
    }

    /// Handles a push that failed on one connection and was accepted on another.
    private func refute(_ failure: Suspects.Failure, at now: MonotonicTime) {
        guard let connection = upkeep.connections.member(failure.connection) else { return }
        if failure.isDisbelief { connection.record.noteError(.connection) }
        guard connection.record.isInDoubt, upkeep.replaceLater(connection, at: now) else { return }
        reporter.report(
            "\(configuration.endpoint) refuses on a connection what it accepts on others; it is replaced", at: now)
    }

    // MARK: Another key

    /// Replaces all connections, because a connection belongs to the key that was first used on it (spec §9.2, documented).
    func changeKey(to serial: UInt64, at moment: Moment) {
        tokens.changeKey(to: serial)
        reporter.service.changeKey()
        reporter.report("the provider key has changed; connections are replaced", at: moment.monotonic)
        upkeep.replaceAll(at: moment)
    }
}
