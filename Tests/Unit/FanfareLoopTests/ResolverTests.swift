import Dispatch
import Synchronization
import Testing

@testable import FanfareLoop

@Suite struct ResolverTests {
    /// A name server that answers when it is told to.
    private final class SlowServer: Sendable {
        let mayAnswer = DispatchSemaphore(value: 0)
        let asked = Atomic(0)

        var resolver: Resolver {
            Resolver { [self] (_, port) throws(LoopError) in
                asked.add(1, ordering: .relaxed)
                mayAnswer.wait()
                guard let address = SocketAddress(ip: "192.0.2.1", port: port) else { return [] }
                return [address]
            }
        }
    }

    /// As it is at the end of a program while name servers are away.
    @Test func aLoopClosesAlthoughANameServerDoesNotAnswer() throws {
        let server = SlowServer()
        let loop = try Loop()
        try server.resolver.resolve(loop: loop, host: "slow.example", port: 1) { _ in
            Issue.record("answered after close")
        }
        loop.close()
        #expect(loop.isClosed)
        server.mayAnswer.signal()
    }

    /// A name server that does not answer holds one thread, however often it is asked.
    @Test func thoseWhoAskForANameMeanwhileShareItsAnswer() throws {
        let server = SlowServer()
        let resolver = server.resolver
        var answers: [SocketAddress] = []
        try withLoop { loop in
            func ask(_ done: @escaping () -> Void) throws {
                try resolver.resolve(loop: loop, host: "slow.example", port: 443) { result in
                    answers += (try? result.get()) ?? []
                    done()
                }
            }
            for _ in 0..<5 { try ask { if answers.count == 5 { loop.stop() } } }
            server.mayAnswer.signal()
            loop.run()
            #expect(server.asked.load(ordering: .relaxed) == 1)
            // A later caller asks afresh; `withLoop` runs the loop once more.
            try ask { loop.stop() }
            server.mayAnswer.signal()
        }
        #expect(server.asked.load(ordering: .relaxed) == 2)
        #expect(answers == Array(repeating: SocketAddress(ip: "192.0.2.1", port: 443), count: 6))
    }

    /// A caller that asks again and again, and has given up before, counts as one waiting caller.
    @Test func lookUpsThatWereGivenUpAreForgotten() throws {
        let server = SlowServer()
        let resolver = server.resolver
        try withLoop { loop in
            for _ in 0..<1000 {
                try resolver.resolve(loop: loop, host: "slow.example", port: 443) { _ in
                    Issue.record("answered after it was cancelled")
                }.cancel()
            }
            try resolver.resolve(loop: loop, host: "slow.example", port: 443) { _ in loop.stop() }
            #expect(resolver.waitingCount == 1)
            server.mayAnswer.signal()
        }
        #expect(server.asked.load(ordering: .relaxed) == 1)
    }

    @Test func lookUpOfOneNameDoesNotWaitForAnother() throws {
        let server = SlowServer()
        let slow = server.resolver
        let resolver = Resolver { (host, port) throws(LoopError) in
            guard host == "quick.example" else { throw LoopError(.nameNotFound, call: "test", reason: "no such host") }
            guard let address = SocketAddress(ip: "192.0.2.2", port: port) else { return [] }
            return [address]
        }
        var answered = false
        try withLoop { loop in
            try slow.resolve(loop: loop, host: "slow.example", port: 1) { _ in Issue.record("the slow one answered") }
            try resolver.resolve(loop: loop, host: "quick.example", port: 1) { _ in
                answered = true
                loop.stop()
            }
        }
        #expect(answered)
        server.mayAnswer.signal()
    }
}
