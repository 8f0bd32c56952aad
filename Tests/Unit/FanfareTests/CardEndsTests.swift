import FanfareLog
import FanfareModel
import Testing

@testable import Fanfare

@Suite struct CardEndsTests {
    /// Box, because an expectation changes no value.
    private final class Ends {
        private var ends = CardEnds()

        var count: Int { ends.count }
        @discardableResult func noteCall(_ id: UInt64) -> PeopleEntry? { ends.noteCall(id) }
        func noteCarriedOut(_ id: UInt64, isKept: Bool = true) { ends.noteCarriedOut(id, isKept: isKept) }
        func shardRemoved(_ id: UInt64, token: UInt64) { ends.shardRemoved(.init(id: id, token: token, shard: 0)) }
        func nextQuestion() -> CardEnds.Question? { ends.nextQuestion() }
        /// Answers all questions.
        func answerAll(isOver: Bool = true) {
            while let question = ends.nextQuestion() { ends.answer(question.id, token: question.token, isOver: isOver) }
        }
        var isEmpty: Bool { ends.isEmpty }
        func answer(_ id: UInt64, token: UInt64, isOver: Bool) { ends.answer(id, token: token, isOver: isOver) }
        func remove(_ id: UInt64, token: UInt64) { ends.remove(id, token: token) }
        func take() -> [PeopleEntry] {
            var entries: [PeopleEntry] = []
            while let entry = ends.popFirst() { entries.append(entry) }
            return entries
        }
    }

    @Test func aRowGoesWhenItsShardSaysTwiceThatTheCardIsOver() {
        let ends = Ends()
        ends.shardRemoved(1, token: 7)
        #expect(ends.take().isEmpty)
        ends.answer(1, token: 7, isOver: true)
        #expect(ends.take() == [.removed(1, token: 7)] && ends.count == 0)
        ends.answer(1, token: 7, isOver: true)
        #expect(ends.take().isEmpty)
    }

    /// A start is repeated while the former one is being given up, as all are after a restart.
    @Test func aCallBeforeOrAfterARemovalKeepsTheRow() {
        let ends = Ends()
        ends.noteCall(1)
        ends.shardRemoved(1, token: 7)
        ends.remove(1, token: 7)
        ends.noteCarriedOut(1)
        #expect(ends.take().isEmpty)
        ends.remove(1, token: 7)
        ends.remove(2, token: 8)
        ends.noteCall(1)
        #expect(ends.take() == [.removed(2, token: 8)])
    }

    /// A shard's answer may be older than the start that is on its way to it.
    @Test func aCallThatGoesToTheShardBeforeItsAnswerKeepsTheRow() {
        let ends = Ends()
        ends.noteCall(1)
        ends.noteCarriedOut(1)
        ends.shardRemoved(1, token: 7)
        ends.answer(1, token: 7, isOver: false)
        #expect(ends.take().isEmpty)
        ends.shardRemoved(1, token: 7)
        ends.noteCall(1)
        ends.answer(1, token: 7, isOver: true)
        ends.noteCarriedOut(1)
        #expect(ends.take().isEmpty)
        ends.shardRemoved(1, token: 7)
        ends.noteCall(1)
        ends.noteCarriedOut(1)
        ends.answer(1, token: 7, isOver: true)
        #expect(ends.take().isEmpty)
    }

    /// The row of the card before it goes before that of the call is written.
    @Test func aCallBeginsWithTheRemovalOfTheCardBeforeIt() {
        let ends = Ends()
        ends.remove(1, token: 7)
        #expect(ends.noteCall(1) == .removed(1, token: 7))
        #expect(ends.noteCall(1) == nil && ends.take().isEmpty)
    }

    /// A call whose row is not kept leaves that of the card before it, which is over.
    @Test func aCallThatIsNotKeptLeavesTheRemovalOfTheCardBeforeIt() {
        for isKept in [false, true] {
            let ends = Ends()
            ends.noteCall(1)
            ends.shardRemoved(1, token: 7)
            #expect(ends.nextQuestion() == nil)
            ends.noteCarriedOut(1, isKept: isKept)
            #expect(ends.take().isEmpty)
            ends.answerAll()
            #expect(ends.take() == (isKept ? [] : [.removed(1, token: 7)]) && ends.isEmpty)
        }
    }

    /// The shard is asked, and answers before or after the call has gone to it.
    @Test(arguments: [false, true], [false, true])
    func aCallWhileTheShardIsAskedKeepsItsOwnRow(isKept: Bool, answersFirst: Bool) {
        let ends = Ends()
        ends.shardRemoved(1, token: 7)
        #expect(ends.noteCall(1) == nil)
        if answersFirst { ends.answer(1, token: 7, isOver: true) }
        ends.noteCarriedOut(1, isKept: isKept)
        if !answersFirst { ends.answer(1, token: 7, isOver: true) }
        ends.answerAll()
        #expect(ends.take() == (isKept ? [] : [.removed(1, token: 7)]) && ends.isEmpty)
    }

    @Test func aCardThatIsOverAgainIsRemovedOnce() {
        let ends = Ends()
        ends.remove(1, token: 7)
        ends.noteCall(1)
        ends.noteCarriedOut(1)
        ends.remove(1, token: 9)
        ends.remove(2, token: 8)
        #expect(ends.take() == [.removed(1, token: 9), .removed(2, token: 8)])
    }

    /// Shards are asked of a few cards, and of the next ones as rows are removed. Each is asked of each card once, also where a call is on its way.
    @Test func shardsAreAskedWhileThereIsRoomForRows() {
        let ends = Ends()
        let count = UInt64(3 * CardEnds.overMax)
        ends.noteCall(3)
        for id in 0..<count { ends.shardRemoved(id, token: id) }
        var (asked, removed): (Set<UInt64>, Set<UInt64>) = ([], [])
        var most = 0
        while !ends.isEmpty {
            while let question = ends.nextQuestion() {
                #expect(asked.insert(question.id).inserted && question.token == question.id)
                ends.answer(question.id, token: question.token, isOver: question.id != 5)
            }
            most = max(most, ends.count)
            for entry in ends.take() {
                if case .removed(let id, _) = entry { removed.insert(id) }
            }
            if asked.count >= count - 1 { ends.noteCarriedOut(3) }
        }
        #expect(asked.count == count && removed == Set(0..<count).subtracting([3, 5]))
        #expect(most == CardEnds.overMax)
    }

    /// The shard tells late that a card is over: one that follows under its id lives by then, while another call that is not kept is on its way.
    @Test func aCardThatFollowsUnderTheIdKeepsItsRow() {
        let ends = Ends()
        ends.noteCall(1)
        ends.noteCarriedOut(1)
        ends.noteCall(1)
        ends.shardRemoved(1, token: 7)
        ends.noteCarriedOut(1, isKept: false)
        ends.answerAll(isOver: false)
        #expect(ends.take().isEmpty && ends.isEmpty)
    }

    /// Each removal of which a shard tells is followed by a question, or it would tell of no more.
    @Test func eachRemovalIsAskedAbout() {
        let ends = Ends()
        ends.noteCall(1)
        ends.shardRemoved(1, token: 7)
        ends.shardRemoved(1, token: 8)
        ends.noteCarriedOut(1)
        var asked: [UInt64] = []
        while let question = ends.nextQuestion() { asked.append(question.token) }
        #expect(asked.sorted() == [7, 8])
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func rowsCallsAndQuestionsAgreeWhateverComesNext(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var ends = CardEnds()
        var asked: [CardEnds.Question] = []
        for step in 0..<2000 {
            let (id, token) = (UInt64.random(in: 0..<6, using: &random), UInt64(step))
            let isYes = Bool.random(using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: _ = ends.noteCall(id)
            case 1: ends.noteCarriedOut(id, isKept: isYes)
            case 2: ends.shardRemoved(CardEnds.Question(id: id, token: token, shard: 0))
            case 3: ends.remove(id, token: token)
            case 4: if let question = ends.nextQuestion() { asked.append(question) }
            case 5: if let reply = asked.popLast() { ends.answer(reply.id, token: reply.token, isOver: isYes) }
            default: _ = ends.popFirst()
            }
            let violation = ends.violation()
            #expect(violation == nil, "seed \(seed), step \(step)")
        }
    }
}
