import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// After a restart, nothing is sent to those who have the newest version by the store's completions.
@Suite struct RestartCompletionTests {
    private static func restart(_ hasNewest: [Bool], isComplete: Bool) -> ScriptedService {
        let service = CompletionTests.service(members: 0)
        service.apply(.publishResumed(ResumedPublication(CompletionTests.publication(9), [], isComplete: isComplete)))
        service.apply(.load)
        for (member, hasNewest) in hasNewest.enumerated() {
            service.apply(
                .follow(
                    ScriptedService.id(member), .topic(ScriptedService.match), token: ScriptedService.token(member),
                    earlier: EarlierDelivery(hasNewest: hasNewest)))
        }
        service.apply(.endLoading)
        service.run()
        return service
    }

    @Test func aRestartSendsNothingToThoseWhoHaveTheVersion() {
        let service = Self.restart([true, false, true, true, false], isComplete: true)
        #expect(Set(service.accepted.map(\.member)) == [1, 4])
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
        // Later publications behave as without a restart.
        service.apply(.publish(CompletionTests.publication(10)))
        service.run()
        #expect(service.accepted.count == 7)
    }

    @Test func aRestartOfWhichAllHaveTheVersionSendsNothing() {
        for members in [1, 2, 50] {
            let service = Self.restart(Array(repeating: true, count: members), isComplete: true)
            #expect(service.pushes == 0 && service.shard.isQuiet && service.shard.violatedInvariant() == nil)
            service.apply(.publish(CompletionTests.publication(10)))
            service.run()
            #expect(service.accepted.count == members)
        }
    }

    @Test func anotherVersionAfterARestartGoesToAll() {
        let service = Self.restart([true, false, true], isComplete: false)
        #expect(service.accepted.count == 3)
    }

    @Test func anActivityCountsAsItWasLoadedLast() {
        let service = CompletionTests.service(members: 0)
        service.apply(.publishResumed(ResumedPublication(CompletionTests.publication(9), [], isComplete: true)))
        service.apply(.load)
        for hasNewest in [true, false] {
            service.apply(
                .follow(
                    ScriptedService.id(1), .topic(ScriptedService.match), token: ScriptedService.token(1),
                    earlier: EarlierDelivery(hasNewest: hasNewest)))
        }
        service.run()
        #expect(service.accepted.count == 1)
    }
}
