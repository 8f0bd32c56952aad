import FanfareModel
import Testing

@testable import FanfareHTTP2

// Each part of a session alone; the sessions' own tests play them together.

/// Returns the code of the error that `body` throws, or nil.
private func code(_ body: () throws(ConnectionError) -> Void) -> ErrorCode? {
    do {
        try body()
        return nil
    } catch { return error.code }
}

@Suite struct PeerLimitsTests {
    @Test func peerLimitsAreTheProtocolsUntilSettingsArrive() throws {
        var limits = PeerLimits()
        #expect(!limits.areKnown && limits.streamsMax == .max && limits.streamWindow == 65_535)
        #expect(limits.frameSizeMax == 16_384 && limits.connectionWindow == 65_535 && limits.wholeBodyMax == 16_384)
        try limits.apply(setting: SettingID.maxConcurrentStreams, value: 7)
        try limits.apply(setting: SettingID.initialWindowSize, value: 100)
        try limits.apply(setting: SettingID.maxFrameSize, value: 20_000)
        try limits.apply(setting: 0x4242, value: .max)
        limits.settingsArrived()
        #expect(limits.areKnown && limits.streamsMax == 7 && limits.streamWindow == 100 && limits.wholeBodyMax == 100)
        #expect(limits.connectionWindow == 65_535, "SETTINGS move the windows of streams alone")
    }

    @Test func peerLimitsRefuseImpossibleValues() {
        var limits = PeerLimits()
        for (setting, value, expected) in [
            (SettingID.enablePush, 1, .protocolError), (SettingID.initialWindowSize, 1 << 31, .flowControlError),
            (SettingID.maxFrameSize, 16_383, .protocolError), (SettingID.maxFrameSize, 1 << 24, .protocolError),
        ] as [(UInt16, UInt32, ErrorCode)] {
            let found = code { () throws(ConnectionError) in try limits.apply(setting: setting, value: value) }
            #expect(found == expected, "setting \(setting)")
        }
        #expect(limits.streamWindow == 65_535 && limits.frameSizeMax == 16_384)
    }

    @Test func connectionWindowGrowsToTheProtocolsMaximumOnly() throws {
        var limits = PeerLimits()
        try limits.widenConnection(by: FlowControl.windowMax - 65_535)
        #expect(limits.connectionWindow == FlowControl.windowMax)
        for (increment, expected) in [(0, ErrorCode.protocolError), (1, .flowControlError)] {
            var limits = limits
            let found = code { () throws(ConnectionError) in try limits.widenConnection(by: increment) }
            #expect(found == expected)
        }
    }
}

@Suite struct OwnLimitsTests {
    @Test func ownWindowIsRenewedOnceHalfOfItIsUsed() throws {
        var own = OwnLimits(window: 1000)
        try own.receive(500)
        let atHalf = (own.renewal(), own.windowLeft)
        #expect(atHalf == (0, 500))
        try own.receive(1)
        let below = (own.renewal(), own.windowLeft, own.renewal())
        #expect(below == (501, 1000, 0))
        try own.receive(1000)
        let beyond = code { () throws(ConnectionError) in try own.receive(1) }
        #expect(beyond == .flowControlError)
    }

    @Test func ownSettingsAreAcknowledgedOnce() throws {
        var own = OwnLimits(window: 1000)
        try own.acknowledge()
        let again = code { () throws(ConnectionError) in try own.acknowledge() }
        #expect(own.areAcknowledged && again == .protocolError)
    }
}

@Suite struct HeaderBlockTests {
    /// - Returns: the code of the block's refusal, or nil.
    private func append(_ bytes: [UInt8], to block: inout HeaderBlock, bytesMax: Int) -> ErrorCode? {
        do throws(ConnectionError) {
            try block.append(bytes.span, bytesMax: bytesMax)
            return nil
        } catch { return error.code }
    }

    @Test func headerBlockJoinsItsFramesInOrder() {
        var block = HeaderBlock()
        for round in 1...3 as ClosedRange<UInt8> {
            let first = [round, 2]
            block.begin(first.span, stream: 5, endsStream: round == 2)
            #expect(block.stream == 5)
            let refusals = [[3], []].compactMap { append($0, to: &block, bytesMax: 4) }
            let bytes = block.take()
            #expect(refusals.isEmpty && bytes == [round, 2, 3])
            #expect(block.stream == 0 && block.endsStream == (round == 2))
            block.giveBack(bytes)
        }
    }

    @Test func headerBlockIsBoundedInBytesAndFrames() {
        var block = HeaderBlock()
        let (first, nothing) = ([1, 2] as [UInt8], [UInt8]())
        let stray = append([1], to: &block, bytesMax: 9)
        #expect(stray == .protocolError)
        block.begin(first.span, stream: 1, endsStream: false)
        let long = append([3], to: &block, bytesMax: 2)
        #expect(long == .enhanceYourCalm)
        block.begin(nothing.span, stream: 3, endsStream: false)
        let allowed = (0..<HeaderBlock.continuationsMax).compactMap { _ in append([], to: &block, bytesMax: 2) }
        let endless = append([], to: &block, bytesMax: 2)
        #expect(allowed.isEmpty && endless == .enhanceYourCalm)
    }
}

@Suite struct FloodGuardTests {
    @Test func floodGuardEndsWhatAnAnswerDoesNotInterrupt() throws {
        var flood = FloodGuard()
        for _ in 0..<2 {
            for _ in 0..<FloodGuard.idleFramesMax { try flood.countIdleFrame() }
            for _ in 0..<FloodGuard.repliesQueuedMax { try flood.countReply() }
            flood.answerArrived()
            flood.outputLeft()
        }
        for _ in 0..<FloodGuard.idleFramesMax { try flood.countIdleFrame() }
        let idle = code { () throws(ConnectionError) in try flood.countIdleFrame() }
        #expect(idle == .enhanceYourCalm)
        for _ in 0..<FloodGuard.repliesQueuedMax { try flood.countReply() }
        let reply = code { () throws(ConnectionError) in try flood.countReply() }
        #expect(reply == .enhanceYourCalm)
    }
}

@Suite struct PingsTests {
    @Test func pingIsAnsweredByItsOwnContentOnly() throws {
        var pings = Pings()
        var answers = [pings.acknowledge(0)]
        let first = pings.next()
        let second = pings.next()
        #expect(first != nil && second == nil)
        answers += [pings.acknowledge((first ?? 0) &+ 1), pings.acknowledge(first ?? 0), pings.acknowledge(first ?? 0)]
        let third = pings.next()
        #expect(third != nil && third != first)
        answers += [pings.acknowledge(first ?? 0), pings.acknowledge(third ?? 0)]
        #expect(answers == [false, false, true, false, false, true])
    }
}

@Suite struct StalledBodiesTests {
    @Test func stalledBodiesKeepTheirOrderAndForgetClosedStreams() {
        var stalled = StalledBodies()
        for stream in [1, 3, 5, 7] as [UInt32] { stalled.append(stream) }
        stalled.prune { $0 != 3 }
        stalled.windowGrew()
        #expect(stalled.windowsHaveGrown)
        let taken = stalled.take()
        #expect(taken == [1, 5, 7] && stalled.streams.isEmpty && !stalled.windowsHaveGrown)
        stalled.giveBack([5, 7])
        #expect(stalled.streams == [5, 7])
    }
}

@Suite struct StreamTableTests {
    @Test func streamTableSkipsIDsWhosePlaceASlowStreamTakes() {
        // Two streams need four places: IDs 1, 9 and 17 share one.
        var streams = StreamTable(streamsMax: 2, first: 1)
        _ = streams.open(Stream(id: streams.next))
        var others: [UInt32] = []
        for _ in 0..<6 {
            streams.advance()
            others.append(streams.next)
            streams.close(streams.open(Stream(id: streams.next)))
        }
        #expect(others == [3, 5, 7, 11, 13, 15])
        #expect(streams.position(of: 1) != nil && streams.position(of: 9) == nil && streams.count == 1)
        #expect(streams.violation() == nil)
    }

    /// A dictionary is the model. Some streams stay open while many others come and go, and some need a partial exchange.
    @Test(arguments: UInt64(1)...10) func streamTableKeepsEachStreamWithItsPartialExchange(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var streams = StreamTable(streamsMax: 20, first: 1)
        var model: [UInt32: (tag: UInt64, bodyCount: Int)] = [:]
        for step in 0..<3000 {
            let ids = model.keys.sorted()
            if ids.isEmpty || (ids.count < 20 && random.chance(0.5)) {
                var stream = Stream(id: streams.next)
                stream.tag = UInt64(step)
                let position = streams.open(stream)
                let bodyCount = random.chance(0.5) ? step + 1 : 0
                if bodyCount > 0 { streams[partial: position].bodyCount = bodyCount }
                model[stream.id] = (stream.tag, bodyCount)
                streams.advance()
            } else if let id = random.chance(0.8) ? ids.last : ids.randomElement(using: &random),
                let position = streams.position(of: id)
            {
                let bodyCount = streams.isPartial(position) ? streams[partial: position].bodyCount : 0
                let tag = streams[position].tag
                #expect(tag == model[id]?.tag && bodyCount == model[id]?.bodyCount, "seed \(seed), step \(step)")
                streams.close(position)
                model[id] = nil
            }
            let open = streams.positions.map { streams[$0].id }
            #expect(open == model.keys.sorted() && streams.violation() == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func aStreamThatIsClosedTwiceContradictsTheCount() {
        var streams = StreamTable(streamsMax: 2, first: 1)
        let position = streams.open(Stream(id: streams.next))
        streams.close(position)
        #expect(streams.violation() == nil)
        streams.close(position)
        #expect(streams.violation() != nil)
    }
}
