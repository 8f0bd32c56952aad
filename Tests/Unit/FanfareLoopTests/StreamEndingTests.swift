import Testing

@testable import FanfareLoop

@Suite struct StreamEndingTests {
    private let reset = LoopError(.connectionLost, call: "read", place: "localhost:1", reason: "reset")
    private let broken = LoopError(.connectionLost, call: "write", place: "localhost:1", reason: "broken pipe")

    @Test func anEndInOrderIsAskedForOnceAndToldOnce() {
        var ending = StreamEnding()
        let early = ending.beginShutdown()
        #expect(!early && !ending.isAsked && ending.takesBytes)
        let asked = [ending.ask(), ending.ask()]
        #expect(asked == [true, false])
        let told = [ending.beginShutdown(), ending.beginShutdown()]
        #expect(told == [true, false])
        #expect(ending.isAsked && !ending.takesBytes && ending.failure == nil)
    }

    @Test func theFirstFailureIsTheOneThatIsReported() {
        var ending = StreamEnding()
        let first = ending.fail(reset, isOfWrite: false)
        let second = ending.fail(reset, isOfWrite: false)
        #expect(first && !second)
        #expect(ending.failure?.error == reset && ending.failure?.isOfWrite == false)
        #expect(!ending.takesBytes && !ending.isAsked)
    }

    @Test func aWriteThatFailsLaterLeavesTheFirstErrorAndBytesToRead() {
        var ending = StreamEnding()
        _ = ending.fail(reset, isOfWrite: false)
        _ = ending.fail(broken, isOfWrite: true)
        #expect(ending.failure?.error == reset && ending.failure?.isOfWrite == true)
    }

    @Test func aFailedWriteStaysOneWhateverFailsLater() {
        var ending = StreamEnding()
        _ = ending.fail(broken, isOfWrite: true)
        _ = ending.fail(reset, isOfWrite: false)
        #expect(ending.failure?.error == broken && ending.failure?.isOfWrite == true)
    }
}
