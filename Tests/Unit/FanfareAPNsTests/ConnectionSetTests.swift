import FanfareModel
import Testing

@testable import FanfareAPNs

/// A connection without a peer: it is what a test says.
private final class StagedConnection: PooledConnection {
    let serial: UInt64
    var record = AnswerRecord()
    var times = AnswerTimes()
    var isCandidate = false
    var isDialing = true
    var isOpen = false
    var lastReceived = MonotonicTime.always
    var nextDeadline = MonotonicTime.never
    var allowsFewer = false
    private(set) var timesAsked = 0

    init(_ serial: UInt64) { self.serial = serial }

    func hasLasted(at now: MonotonicTime) -> Bool { false }
    func isReduced(at now: MonotonicTime) -> Bool { allowsFewer }
    func askForSignOfLife(at now: MonotonicTime) { timesAsked += 1 }
}

@Suite struct ConnectionSetTests {
    private let now = MonotonicTime.after(.seconds(100))
    private var random = SplitMix64(seed: 1)

    private func emptySet(of count: Int) -> ConnectionSet<StagedConnection> {
        ConnectionSet(count: count, least: min(2, count), choosesSize: true, pools: 1)
    }

    private func open(_ connection: StagedConnection, in set: ConnectionSet<StagedConnection>) {
        (connection.isDialing, connection.isOpen) = (false, true)
        set.noteOpened(connection)
    }

    /// Returns a set whose slots have open connections.
    private func openSet(of count: Int) -> ConnectionSet<StagedConnection> {
        let set = emptySet(of: count)
        for index in 0..<count { open(set.fill(index) { StagedConnection($0) }, in: set) }
        return set
    }

    @Test func twoSlotsDialForAllWhileNoConnectionIsOpen() {
        let set = emptySet(of: 5)
        var connections: [StagedConnection] = []
        for index in 0..<2 {
            #expect(set.opens(index, at: now))
            connections.append(set.fill(index) { StagedConnection($0) })
        }
        #expect(!set.opens(2, at: now))
        open(connections[0], in: set)
        #expect(set.opens(2, at: now) && set.openCount == 1 && set.opened == 1)
        #expect(connections.map(\.serial) == [1, 2])
    }

    @Test mutating func aReplacedConnectionDrainsUntilItEnds() {
        let set = openSet(of: 2)
        let connection = set.members[0]
        let first = set.replace(connection, at: now, using: &random)
        let second = set.replace(connection, at: now, using: &random)
        #expect(first && !second, "it has left its slot")
        #expect(!set.hasSlot(connection) && set.everyMember.count == 2)
        #expect(!set.opens(0, at: now) && set.opens(0, at: now + .seconds(1)))
        set.noteEnd(of: connection, .drained, lingers: false)
        #expect(set.everyMember.count == 1 && set.lost == 0)
    }

    @Test mutating func aConnectionInDoubtKeepsItsSlotUntilTheNextOneDials() {
        let set = openSet(of: 2)
        let connection = set.members[0]
        let first = set.replaceLater(connection, at: now, using: &random)
        let second = set.replaceLater(connection, at: now, using: &random)
        #expect(first && !second && set.hasSlot(connection))
        set.trust(connection)
        let again = set.replaceLater(connection, at: now, using: &random)
        #expect(again, "the doubt was cleared in the meantime")
        #expect(set.opens(0, at: now + .seconds(1)) && !set.opens(1, at: now + .seconds(1)))
        let left = set.clear(0, at: now + .seconds(1))
        #expect(left === connection && !set.hasSlot(connection) && set.everyMember.count == 2)
    }

    @Test mutating func anotherKeyEmptiesAllSlots() {
        let set = openSet(of: 3)
        let left = set.replaceAll(at: now, using: &random)
        #expect(left.map(\.serial) == [1, 2, 3] && set.members.isEmpty && set.count == 3)
        for connection in left {
            #expect(!set.isEmpty)
            set.noteEnd(of: connection, .drained, lingers: false)
        }
        #expect(set.isEmpty)
    }

    @Test func aPeerThatRefusesASlotForTenSecondsWantsNoMore() {
        let set = openSet(of: 2)
        let (refused, witness) = (set.members[0], set.members[1])
        var wantsNoMore: [Bool] = []
        for seconds in [0, 5, 10] {
            let now = now + .seconds(seconds)
            witness.lastReceived = now
            wantsNoMore.append(set.noteRefusal(of: refused, at: now))
        }
        #expect(wantsNoMore == [false, false, true] && witness.timesAsked == 3)
        witness.isOpen = false
        #expect(!set.noteRefusal(of: refused, at: now + .seconds(20)), "no other connection shows that the peer lives")
    }

    @Test mutating func aConnectionBegunWithOthersIsTakenBackAfterOneHasFailed() {
        let set = openSet(of: 2)
        #expect(set.beginnable == 4)
        set.add(2, at: now, using: &random)
        #expect(set.beginnable == 2)
        let (failed, other) = (set.fill(2) { StagedConnection($0) }, set.fill(3) { StagedConnection($0) })
        #expect(!set.takeBack(failed), "one of them finds out whether the peer wants no more")
        set.vacateSlot(of: failed, for: .seconds(1), at: now)
        #expect(set.beginnable == 0)
        #expect(set.takeBack(other) && set.count == 3)
    }

    @Test mutating func connectionsBegunTogetherLeaveTogether() {
        let set = openSet(of: 2)
        set.add(3, at: now, using: &random)
        let (failed, other) = (set.fill(2) { StagedConnection($0) }, set.fill(3) { StagedConnection($0) })
        let removed = set.removeUntried(except: failed)
        #expect(removed.count == 2 && removed.left.count == 1 && removed.left.first === other)
        #expect(set.count == 3 && set.hasSlot(failed) && set.everyMember.count == 4)
    }

    @Test func aSlotWithoutAConnectionIsWorthLeast() {
        let set = openSet(of: 3)
        let last = set.removeLeastUseful()
        #expect(last?.serial == 3 && set.count == 2)
        let first = set.members[0]
        set.noteEnd(of: first, .lost(""), lingers: false)
        set.vacateSlot(of: first, for: .zero, at: now)
        #expect(set.lost == 1 && set.removeLeastUseful() == nil && set.count == 1 && set.openCount == 1)
    }

    @Test func aConnectionWhoseSlotIsGivenUpDrainsUntilItEnds() {
        let set = openSet(of: 1)
        let connection = set.members[0]
        let left = set.giveUpSlot(of: connection)
        let again = set.giveUpSlot(of: connection)
        #expect(left === connection && again == nil, "it has left its slot")
        #expect(set.count == 0 && !set.isEmpty && set.everyMember.count == 1 && set.everyMember.first === connection)
        set.noteEnd(of: connection, .drained, lingers: false)
        #expect(set.isEmpty)
    }

    @Test func aConnectionThatHasEndedIsGoneWithItsSlotUnlessItLingers() {
        let set = openSet(of: 2)
        let (ended, lingering) = (set.members[0], set.members[1])
        set.noteEnd(of: ended, .lost(""), lingers: false)
        set.removeSlot(of: ended)
        #expect(set.count == 1 && set.everyMember.count == 1 && !set.hasSlot(ended))
        set.noteEnd(of: lingering, .drained, lingers: true)
        set.removeSlot(of: lingering)
        #expect(set.count == 0 && !set.isEmpty && set.everyMember.count == 1)
        set.noteEnd(of: lingering, .drained, lingers: false)
        #expect(set.isEmpty)
    }

    @Test func aSlotCountsAsTakenUntilItsConnectionIsRefused() {
        let set = openSet(of: 2)
        #expect(set.hasChanged)
        #expect(set.taken() == 2 && !set.hasChanged)
        let (refused, witness) = (set.members[0], set.members[1])
        witness.lastReceived = now
        _ = set.noteRefusal(of: refused, at: now)
        refused.isOpen = false
        #expect(set.hasChanged)
        #expect(set.taken() == 1)
    }

    @Test func aPeerThatAllowsFewerRequestsOnHalfOfTheConnectionsWantsUsSlower() {
        let set = openSet(of: 3)
        set.members[0].allowsFewer = true
        #expect(!set.isReduced(at: now))
        set.members[1].allowsFewer = true
        #expect(set.isReduced(at: now))
    }

    @Test mutating func theFirstDeadlineIsOfAConnectionOrOfASlot() {
        let set = openSet(of: 2)
        set.members[1].nextDeadline = now + .seconds(90)
        #expect(set.nextDeadline(dials: true) == now + .seconds(90))
        let connection = set.members[0]
        _ = set.replace(connection, at: now, using: &random)
        #expect(set.nextDeadline(dials: true) < now + .seconds(1))
        #expect(set.nextDeadline(dials: false) == now + .seconds(90))
        connection.nextDeadline = now
        #expect(set.nextDeadline(dials: false) == now, "it drains")
    }

    @Test func fewAnswersAloneSayNothingOfTheService() {
        let set = openSet(of: 2)
        set.members[0].times.noteSent()
        set.members[0].times.noteAccepted(after: .nanoseconds(7), at: now)
        #expect(set.quickestService == nil)
        set.members[1].times.noteSent()
        set.members[1].times.noteAccepted(after: .nanoseconds(9), at: now)
        #expect(set.quickestService == .nanoseconds(7))
    }

    /// Random events in the order in which a pool has them.
    @Test(arguments: 0..<10) func aConnectionHasOnePlaceWhateverHappens(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let set = emptySet(of: 4)
        var now = now
        for step in 0..<1000 {
            now += .milliseconds(Int.random(in: 0...2000, using: &random))
            for index in 0..<set.count where set.opens(index, at: now) {
                _ = set.clear(index, at: now)
                _ = set.fill(index) { StagedConnection($0) }
            }
            if let connection = set.everyMember.randomElement(using: &random) {
                event(of: connection, in: set, at: now, using: &random)
            }
            #expect(set.violation() == nil, "step \(step)")
        }
    }

    private func event(
        of connection: StagedConnection, in set: ConnectionSet<StagedConnection>, at now: MonotonicTime,
        using random: inout SplitMix64
    ) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where connection.isDialing: open(connection, in: set)
        case 1: _ = set.replace(connection, at: now, using: &random)
        case 2: _ = set.replaceLater(connection, at: now, using: &random)
        case 3: set.trust(connection)
        case 4: set.noteSuccess(of: connection)
        case 5: _ = set.noteRefusal(of: connection, at: now)
        case 6:
            (connection.isDialing, connection.isOpen) = (false, false)
            set.noteEnd(of: connection, .lost(""), lingers: Bool.random(using: &random))
            set.vacateSlot(of: connection, for: .seconds(1), at: now)
        case 7:
            _ = set.removeLeastUseful()
            set.add(1, at: now, using: &random)
        default: set.mayHaveRoom(connection)
        }
    }
}
