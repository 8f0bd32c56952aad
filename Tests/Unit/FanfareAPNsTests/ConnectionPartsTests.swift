import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct SilenceTests {
    private var silence = Silence(busy: .seconds(20), idle: .seconds(45), pong: .seconds(5))

    @Test mutating func idlePeerIsAskedAfterTheLongerSpan() {
        silence.opened(at: .after(.seconds(100)))
        #expect(silence.ends(isBusy: false) == .after(.seconds(145)) && !silence.isAsking)
        #expect(!silence.isLong(at: .after(.milliseconds(119_999))) && silence.isLong(at: .after(.seconds(120))))
        #expect(!silence.hasBeenBroken, "its SETTINGS came before")
    }

    /// The silence of an idle hour says nothing about a request that has just left.
    @Test mutating func busyPeerIsGivenItsTimeFromTheFirstRequestOn() {
        silence.opened(at: .after(.seconds(100)))
        silence.becameBusy(at: .after(.seconds(130)))
        #expect(silence.ends(isBusy: true) == .after(.seconds(150)))
        silence.received(at: .after(.seconds(140)))
        #expect(silence.ends(isBusy: true) == .after(.seconds(160)) && silence.hasBeenBroken)
        #expect(silence.ends(isBusy: false) == .after(.seconds(185)))
    }

    @Test mutating func peerIsAskedOnceAndAnyBytesAreItsAnswer() {
        silence.opened(at: .after(.seconds(100)))
        let (first, second) = (silence.ask(at: .after(.seconds(120))), silence.ask(at: .after(.seconds(121))))
        #expect(first && !second && silence.isAsking)
        for isBusy in [false, true] { #expect(silence.ends(isBusy: isBusy) == .after(.seconds(125))) }
        silence.received(at: .after(.seconds(124)))
        #expect(!silence.isAsking && silence.ends(isBusy: false) == .after(.seconds(169)))
        let again = silence.ask(at: .after(.seconds(169)))
        #expect(again)
    }

    @Test mutating func aRequestForASignOfLifeIsNewerThanTheLastBytes() {
        var random = SplitMix64(seed: 4)
        silence.opened(at: .after(.seconds(100)))
        for step in 0..<1000 {
            let now = MonotonicTime.after(.seconds(100 + step))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: silence.received(at: now)
            case 1: silence.becameBusy(at: now)
            default: _ = silence.ask(at: now)
            }
            #expect(silence.violation() == nil, "step \(step)")
        }
    }
}

@Suite struct AnswerDeadlineTests {
    private var deadline = AnswerDeadline(usual: .seconds(10))

    /// Returns the response times of answers that took that long, the last one at that time.
    private func response(_ duration: Duration, at now: MonotonicTime) -> RoundTrip {
        var response = RoundTrip(memory: .seconds(1))
        response.note(duration, at: now)
        return response
    }

    @Test mutating func oldestRequestHasTheUsualTime() {
        let now = MonotonicTime.after(.seconds(100))
        #expect(deadline.next == .never)
        deadline.begin(at: now)
        #expect(deadline.next == now + .seconds(10))
        let response = response(.milliseconds(50), at: now)
        deadline.renew(oldest: now + .seconds(3), response, at: now + .seconds(4))
        #expect(deadline.next == now + .seconds(13))
        deadline.renew(oldest: nil, response, at: now + .seconds(5))
        #expect(deadline.next == .never)
    }

    /// Answers take four seconds, and come: a request may take sixteen. Five seconds after the last one, none may.
    @Test mutating func requestsInAPeersQueueHaveMoreTimeWhileAnswersCome() {
        let now = MonotonicTime.after(.seconds(100))
        let response = response(.seconds(4), at: now)
        #expect(deadline.patience(response, at: now + .seconds(4)) == .seconds(16))
        #expect(deadline.patience(response, at: now + .seconds(5)) == .seconds(10))
        deadline.renew(oldest: now - .seconds(2), response, at: now + .seconds(1))
        #expect(deadline.next == now + .seconds(5), "the look that finds the answers gone")
        deadline.renew(oldest: now - .seconds(12), response, at: now + .seconds(1))
        #expect(deadline.next == now + .seconds(4))
    }
}

@Suite struct PeerPatienceTests {
    private let start = MonotonicTime.after(.seconds(100))
    private var patience = PeerPatience(
        silence: Silence(busy: .seconds(4), idle: .seconds(45), pong: .seconds(5)),
        answers: AnswerDeadline(usual: .seconds(10)))

    @Test mutating func patienceEndsWithTheFirstOfItsDeadlines() {
        patience.silence.opened(at: start)
        #expect(patience.ends(takesRequests: true, isBusy: false) == start + .seconds(45))
        patience.becameBusy(at: start + .seconds(1))
        #expect(patience.ends(takesRequests: true, isBusy: true) == start + .seconds(5), "the peer is silent")
        patience.silence.received(at: start + .seconds(10))
        #expect(patience.ends(takesRequests: true, isBusy: true) == start + .seconds(11), "no answer has come")
        #expect(patience.violation() == nil)
    }

    @Test mutating func aPeerThatAllowsNoRequestsMattersWhileSomeAreToBeSent() {
        patience.silence.opened(at: start)
        patience.allowance.note(allowsAny: false, patience: .seconds(30), at: start)
        #expect(patience.ends(takesRequests: true, isBusy: false) == start + .seconds(30))
        #expect(patience.ends(takesRequests: false, isBusy: false) == start + .seconds(45))
    }
}

@Suite struct AnswerRecordTests {
    private var record = AnswerRecord()

    @Test mutating func errorsInARowPutAConnectionInDoubtUntilAPushIsProcessed() {
        for _ in 0..<AnswerRecord.errorsInARowMax - 1 { record.noteError(.connection) }
        record.noteError(.activity)
        #expect(!record.isInDoubt, "an error about one activity says nothing about the connection")
        record.noteError(.connection)
        #expect(record.isInDoubt && !record.hasSucceeded)
        let (first, second) = (record.noteSuccess(), record.noteSuccess())
        #expect(first && !second && !record.isInDoubt && record.errorsInARow == 0 && record.answers == 2)
    }

    @Test mutating func timeoutWithoutAnyAnswerBehindItIsADoubtAtOnce() {
        let sent = MonotonicTime.after(.seconds(100))
        record.noteSuccesses(at: sent)
        record.noteOverdue(sentAt: sent, .connection)
        #expect(record.errorsInARow == 0, "others were answered meanwhile")
        record.noteOverdue(sentAt: sent + .milliseconds(1), .activity)
        #expect(!record.isInDoubt)
        record.noteOverdue(sentAt: sent + .milliseconds(1), .connection)
        #expect(record.isInDoubt)
    }

    @Test mutating func goodAnswersEndDisbelief() {
        record.noteUnconfirmed()
        record.noteUnconfirmed()
        #expect(record.unconfirmedInARow == 2)
        _ = record.noteSuccess()
        #expect(record.unconfirmedInARow == 0)
    }

    @Test mutating func connectionIsOfUseByItsAnswers() {
        var counts = (succeeded: 0, traffic: 0)
        for _ in 0..<200 {
            _ = record.noteSuccess()
            if record.hasJustSucceeded { counts.succeeded += 1 }
            if record.carriedTraffic { counts.traffic += 1 }
        }
        #expect(counts == (1, 101), "succeeded at the 16th answer, traffic from the 100th on")
    }

    @Test mutating func successesAreAnswersWhateverHappens() {
        var random = SplitMix64(seed: 6)
        for step in 0..<1000 {
            let now = MonotonicTime.after(.seconds(step))
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                _ = record.noteSuccess()
                record.noteSuccesses(at: now)
            case 1: record.noteError(.connection)
            case 2: record.noteOverdue(sentAt: now - .seconds(3), .connection)
            case 3: record.noteUnconfirmed()
            default: record.finalAnswers.note(isFinal: Bool.random(using: &random))
            }
            #expect(record.violation() == nil, "step \(step)")
        }
    }
}
