import Testing

@testable import FanfareHTTP2

/// Each part of a session alone; the sessions' own tests play them together.
@Suite struct SessionPartsTests {
    /// Returns the code of the error that `body` throws, or nil.
    private func code(_ body: () throws(ConnectionError) -> Void) -> ErrorCode? {
        do {
            try body()
            return nil
        } catch { return error.code }
    }

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
            #expect(code { () throws(ConnectionError) in try limits.apply(setting: setting, value: value) } == expected)
        }
        #expect(limits.streamWindow == 65_535 && limits.frameSizeMax == 16_384)
    }

    @Test func connectionWindowGrowsToTheProtocolsMaximumOnly() throws {
        var limits = PeerLimits()
        try limits.widenConnection(by: FlowControl.windowMax - 65_535)
        #expect(limits.connectionWindow == FlowControl.windowMax)
        for (increment, expected) in [(0, ErrorCode.protocolError), (1, .flowControlError)] {
            var limits = limits
            #expect(code { () throws(ConnectionError) in try limits.widenConnection(by: increment) } == expected)
        }
    }

    @Test func ownWindowIsRenewedOnceHalfOfItIsUsed() throws {
        var own = OwnLimits(window: 1000)
        try own.receive(500)
        #expect(own.renewal() == 0 && own.windowLeft == 500)
        try own.receive(1)
        #expect(own.renewal() == 501 && own.windowLeft == 1000 && own.renewal() == 0)
        try own.receive(1000)
        #expect(code { () throws(ConnectionError) in try own.receive(1) } == .flowControlError)
    }

    @Test func ownSettingsAreAcknowledgedOnce() throws {
        var own = OwnLimits(window: 1000)
        try own.acknowledge()
        #expect(own.areAcknowledged)
        #expect(code { () throws(ConnectionError) in try own.acknowledge() } == .protocolError)
    }

    @Test func headerBlockJoinsItsFramesInOrder() throws {
        var block = HeaderBlock()
        for round in 1...3 as ClosedRange<UInt8> {
            block.begin([round, 2].span, stream: 5, endsStream: round == 2)
            #expect(block.stream == 5)
            try block.append([3].span, bytesMax: 4)
            try block.append([].span, bytesMax: 4)
            let bytes = block.take()
            #expect(bytes == [round, 2, 3] && block.stream == 0 && block.endsStream == (round == 2))
            block.giveBack(bytes)
        }
    }

    @Test func headerBlockIsBoundedInBytesAndFrames() throws {
        var block = HeaderBlock()
        #expect(code { () throws(ConnectionError) in try block.append([1].span, bytesMax: 9) } == .protocolError)
        block.begin([1, 2].span, stream: 1, endsStream: false)
        #expect(code { () throws(ConnectionError) in try block.append([3].span, bytesMax: 2) } == .enhanceYourCalm)
        block.begin([].span, stream: 3, endsStream: false)
        for _ in 0..<HeaderBlock.continuationsMax { try block.append([].span, bytesMax: 2) }
        #expect(code { () throws(ConnectionError) in try block.append([].span, bytesMax: 2) } == .enhanceYourCalm)
    }

    @Test func floodGuardEndsWhatAnAnswerDoesNotInterrupt() throws {
        var flood = FloodGuard()
        for _ in 0..<2 {
            for _ in 0..<FloodGuard.idleFramesMax { try flood.countIdleFrame() }
            for _ in 0..<FloodGuard.repliesQueuedMax { try flood.countReply() }
            flood.answerArrived()
            flood.outputLeft()
        }
        for _ in 0..<FloodGuard.idleFramesMax { try flood.countIdleFrame() }
        #expect(code { () throws(ConnectionError) in try flood.countIdleFrame() } == .enhanceYourCalm)
        for _ in 0..<FloodGuard.repliesQueuedMax { try flood.countReply() }
        #expect(code { () throws(ConnectionError) in try flood.countReply() } == .enhanceYourCalm)
    }

    @Test func pingIsAnsweredByItsOwnContentOnly() throws {
        var pings = Pings()
        #expect(!pings.acknowledge(0), "no PING is out")
        let first = try #require(pings.next())
        #expect(pings.next() == nil && !pings.acknowledge(first &+ 1) && pings.acknowledge(first))
        #expect(!pings.acknowledge(first), "an answer twice")
        let second = try #require(pings.next())
        #expect(second != first && !pings.acknowledge(first) && pings.acknowledge(second))
    }

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
    }
}
