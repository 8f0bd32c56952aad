/// The harness's knowledge of all lives of the program: requests and acknowledgements in one order, kills, and the moments at which
/// everything had arrived. The judge compares it with what phones were sent.
package struct History {
    /// Place of a request or an acknowledgement in the order in which the harness saw them. A request acknowledged before another
    /// request was made precedes that one in the engine, too.
    package typealias Tick = Int

    package struct Change {
        package var kind: Request.Change
        package var asked: Tick
        package var acknowledged: Tick?
        /// Life in which it was acknowledged.
        package var life: Int?
        /// Its alert is withheld, because the topic was muted.
        package var isMuted = false
        /// Number of the pause that holds it back.
        package var pause: Int?

        package init(kind: Request.Change, asked: Tick, acknowledged: Tick? = nil, life: Int? = nil) {
            (self.kind, self.asked, self.acknowledged, self.life) = (kind, asked, acknowledged, life)
        }
    }

    package struct Pause {
        package let asked: Tick
        /// Time of the order that lifts it, and its acknowledgement; `nil` while the pause stands.
        package var liftedNanoseconds: Int64?
        package var over: Tick?

        package init(asked: Tick) { self.asked = asked }
    }

    package struct Topic {
        package let name: String
        /// Change to number 1, 2 and so on.
        package var changes: [Change] = []
        package var pauses: [Pause] = []

        package init(_ name: String) { self.name = name }

        package var end: Change? { changes.last.flatMap { $0.kind == .end ? $0 : nil } }
        package subscript(number: Int) -> Change? {
            changes.indices.contains(number - 1) ? changes[number - 1] : nil
        }
    }

    /// Part of a card's life: what it shows, or by which token it is reached.
    package struct Span<Value> {
        package let value: Value
        package let asked: Tick
        package var acknowledged: Tick?
        /// The first request after which it may be over.
        package var leaving: Tick?
        /// Acknowledgement after which it is over.
        package var left: Tick?

        package init(_ value: Value, asked: Tick, acknowledged: Tick? = nil) {
            (self.value, self.asked, self.acknowledged) = (value, asked, acknowledged)
        }
    }

    package struct Start {
        package let asked: Tick
        /// Life in which it was asked for, and taken if that is known.
        package var life: Int
        package var acknowledged: Tick?
        /// Life in which it has arrived.
        package var arrived: Int?
        /// Life and place of the acknowledgement by which the engine knows that it has arrived.
        package var confirmed: (life: Int, tick: Tick)?
        /// Life that has told that it may have left in an earlier one, and does not leave again.
        package var uncertain: Int?

        package init(asked: Tick, life: Int, acknowledged: Tick? = nil) {
            (self.asked, self.life, self.acknowledged) = (asked, life, acknowledged)
        }
    }

    package struct Preference {
        package let wish: Request.Wish
        package let asked: Tick
        package let askedNanoseconds: Int64
        package var acknowledged: Tick?

        package init(_ wish: Request.Wish, asked: Tick, askedNanoseconds: Int64, acknowledged: Tick? = nil) {
            (self.wish, self.asked, self.askedNanoseconds) = (wish, asked, askedNanoseconds)
            self.acknowledged = acknowledged
        }
    }

    package struct Card {
        /// Topics that the card shows, as numbers.
        package var shows: [Span<[Int]>] = []
        /// Generations of its token.
        package var tokens: [Span<Int>] = []
        package var start: Start?
        /// Preferences in the order of the requests; the first ones are those of a new card.
        package var preferences = [Preference(.alerts, asked: 0, askedNanoseconds: 0, acknowledged: 0)]
        /// Requests to end it.
        package var unfollowed: Tick?
        package var isUnfollowAcknowledged = false

        package init() {}

        /// Returns the preferences that may hold for what is asked for at a place of the order: the newest that were acknowledged by then, and later
        /// ones.
        func preferences(since tick: Tick) -> ArraySlice<Preference> {
            preferences[(preferences.lastIndex { ($0.acknowledged ?? .max) < tick } ?? 0)...]
        }

        /// Is `true` if the card certainly wants alerts in a part of the order.
        func wantsAlerts(during part: ClosedRange<Tick>) -> Bool {
            preferences(since: part.lowerBound).allSatisfy { $0.asked > part.upperBound || $0.wish.wantsAlerts }
        }
    }

    package struct Life {
        package let round: Int
        package let beganNanoseconds: Int64
        /// Place in the order at which it was killed; `nil` for the last one, which ended by itself.
        package var killed: Tick?
        /// Is `true` for a life that follows a planned stop after which nothing was asked for: there is nothing to say to anybody but the
        /// followers of several topics.
        package var isQuiet = false
        package var phases: [Phase] = []
        /// Apps of the engine.
        package var apps = Set(CardApp.allCases)
        /// Time from which on alerts may have left without claims, because the disk was full at the kill; `nil` if it was not.
        package var unclaimedNanoseconds: Int64?
        /// Is `true` of a life that has ended in order and owes nothing.
        package var isStopped = false

        package init(round: Int, beganNanoseconds: Int64) {
            (self.round, self.beganNanoseconds) = (round, beganNanoseconds)
        }
    }

    /// A `settle` that was answered: all that was acknowledged before it was asked for has arrived.
    package struct Settlement {
        package let life: Int
        package let asked: Tick
        package let acknowledged: Tick
        package let nanoseconds: Int64

        package init(life: Int, asked: Tick, acknowledged: Tick, nanoseconds: Int64) {
            (self.life, self.asked, self.acknowledged, self.nanoseconds) = (life, asked, acknowledged, nanoseconds)
        }
    }

    package var topics: [Topic] = []
    package var cards: [Card] = []
    package var lives: [Life] = []
    package var settlements: [Settlement] = []
    /// Faults while the program ran: an answer that tells of one, a restart that failed.
    package var complaints: [String] = []

    package init() {}

    /// Bounds of the number of cards that the store has. After a kill any number of rows of cards that are over may wait for their removal; a program
    /// that ends in order removes them before.
    package var storedCards: ClosedRange<Int> {
        let isStopped = lives.last?.isStopped == true
        let asked = cards.indices.filter { !cards[$0].shows.isEmpty }
        let certain = asked.count { isStored(cards[$0]) }
        let possible = asked.count { !isStopped || !isOver($0) }
        return certain...possible
    }

    /// Is `true` of a card that the store certainly has.
    private func isStored(_ card: Card) -> Bool {
        let isStarting = card.start.map { $0.acknowledged != nil && $0.uncertain == nil } ?? false
        guard card.shows.last?.acknowledged != nil || isStarting, card.unfollowed == nil else { return false }
        return !card.shows.contains { $0.value.contains { topics[$0].end != nil } }
    }

    /// Is `true` of a card that is certainly over: it was unfollowed, its start was given up, or the topic that it certainly shows has ended.
    private func isOver(_ index: Int) -> Bool {
        let card = cards[index]
        if card.isUnfollowAcknowledged { return true }
        guard let token = card.tokens.first else {
            return card.start?.uncertain != nil && card.shows.last?.acknowledged == nil
        }
        let open = card.shows.filter { $0.left == nil }
        guard token.acknowledged != nil, open.count == 1, open[0].acknowledged != nil, open[0].value.count == 1,
            topics[open[0].value[0]].end?.acknowledged != nil
        else { return false }
        return !mayLackEnd(of: open[0].value[0], on: index)
    }

    /// Is `true` if the engine may have forgotten a topic that has ended before it could end a card of an app that was away.
    func mayLackEnd(of topic: Int, on card: Int) -> Bool {
        guard let end = topics[topic].end, let acknowledged = end.acknowledged, let life = end.life,
            lives.indices.contains(life),
            let arrived = settlements.first(where: { $0.asked > acknowledged && serves(card, in: $0.life) }),
            arrived.life >= life, (life...arrived.life).contains(where: { !serves(card, in: $0) })
        else { return false }
        // Log time, by which the engine forgets, may catch up with the clock meanwhile: half of the time is certain.
        let remembered = Int64(Program.forgetAfterSeconds) * 1_000_000_000 / 2
        return arrived.nanoseconds - lives[life].beganNanoseconds > remembered
    }

    /// Is `true` if the engine of that life had the card's app.
    func serves(_ card: Int, in life: Int) -> Bool {
        !lives.indices.contains(life) || lives[life].apps.contains(CardApp(card: card))
    }
}
