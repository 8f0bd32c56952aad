package import LoadJSON

/// Reads a simulator's dump line by line and decides whether every promise about deliveries was kept.
///
/// Its sources lie outside the engine's delivery path: the pushes that a server accepted (the dump) and the versions that
/// the decision core published (the states file).
package struct Judge {
    package struct Expectations: Sendable {
        /// Topics per lineup; `nil` if each token follows one topic.
        package var lineups: Int?
        /// Number of tokens that must be in the dump, including dead ones.
        package var tokens: Int?
        /// Least number of distinct states accepted by the median live token.
        package var distinctStates: Int?
        /// Most starts that one device may have accepted: the number of its activities.
        package var startsPerToken = 1

        package init(lineups: Int? = nil, tokens: Int? = nil, distinctStates: Int? = nil) {
            self.lineups = lineups
            self.tokens = tokens
            self.distinctStates = distinctStates
        }
    }

    /// One accepted push from a token's line.
    private struct Entry {
        let arrival: Int64
        let state: String?
        let stamp: Int64
        let event: String
        let alert: String?
        let isUnanswered: Bool

        init?(_ json: JSON) {
            guard let parts = json.arrayValue, parts.count == 6 || parts.count == 7,
                let arrival = parts[0].intValue, let stamp = parts[2].intValue, let event = parts[3].stringValue,
                ["s", "u", "e"].contains(event), parts[1] == .null || parts[1].stringValue != nil,
                parts[5] == .null || parts[5].stringValue != nil,
                parts.count == 6 || parts[6].stringValue == "unanswered"
            else { return nil }
            self.arrival = arrival
            state = parts[1].stringValue
            self.stamp = stamp
            self.event = event
            alert = parts[5].stringValue
            isUnanswered = parts.count == 7
        }
    }

    /// An equal state twice in a row although the first was answered.
    private struct Repeat {
        let token, state: String
        let arrivals: ClosedRange<Int64>
    }

    /// Longest sweep in milliseconds, from the first activity to the last, of activities whose pushes are not lost.
    private static let sweepMax: Int64 = 1000

    private let book: TopicBook
    private let expectations: Expectations
    private var readings: [String: TopicBook.Reading] = [:]
    private var alertTitles: [String: String] = [:]
    private var distinct: [Int] = []
    /// Time range in which tokens accepted a state again after another one in between, by state.
    private var returns: [String: ClosedRange<Int64>] = [:]
    private var repeats: [Repeat] = []
    private var hasCounters = false
    private var verdict = Verdict()

    package init(topics: [TopicRecord], expectations: Expectations = Expectations()) throws(InputError) {
        book = try TopicBook(topics)
        self.expectations = expectations
        verdict.topics = topics.count
        verdict.lineups = expectations.lineups
    }

    /// Reads the next line of the dump. Ignores lines of unknown type, for later formats.
    package mutating func read(_ line: JSON) throws(InputError) {
        switch line["type"]?.stringValue {
        case "state":
            guard let hash = line["hash"]?.stringValue, let state = line["state"] else {
                throw InputError(description: "a state line wants hash and state")
            }
            let reading = expectations.lineups == nil ? book.read(state) : book.readLineup(state)
            if let fault = reading.fault { verdict.add(.unknownState, token: "", "state \(hash): \(fault)") }
            readings[hash] = reading
        case "alert":
            guard let hash = line["hash"]?.stringValue, let title = line["title"], let body = line["body"] else {
                throw InputError(description: "an alert line wants hash, title and body")
            }
            alertTitles[hash] = "\(title.canonicalText) \(body.canonicalText)"
        case "token": try readToken(line)
        case "counters":
            hasCounters = true
            let unrecorded = line["unrecorded"]?.intValue ?? 0
            if unrecorded > 0 {
                verdict.add(.incompleteDump, token: "", "\(unrecorded) accepted pushes did not fit into the record")
            }
        case .some: break
        case nil: throw InputError(description: "a line of the dump wants a type")
        }
    }

    /// Returns the verdict. To be called after the last line.
    package mutating func finish() -> Verdict {
        judgeRepeats()
        if !hasCounters { verdict.add(.incompleteDump, token: "", "the line with the counters is missing: cut off?") }
        let tokens = verdict.liveTokens + verdict.deadTokens + verdict.startTokens
        if let expected = expectations.tokens, tokens != expected {
            verdict.add(.tokenCount, token: "", "\(tokens) tokens in the dump, \(expected) expected")
        }
        distinct.sort()
        if let least = distinct.first, let most = distinct.last {
            verdict.distinctStates = (least, distinct[(distinct.count - 1) / 2], most)
        }
        let median = verdict.distinctStates.median
        if let wanted = expectations.distinctStates, median < wanted {
            verdict.add(
                .fewStates, token: "", "the median token accepted \(median) distinct states, \(wanted) wanted")
        }
        return verdict
    }

    private mutating func readToken(_ line: JSON) throws(InputError) {
        guard let token = line["token"]?.stringValue, let isDead = line["dead"]?.boolValue,
            let accepted = line["accepted"]?.arrayValue
        else { throw InputError(description: "a token line wants token, dead and accepted") }
        var entries: [Entry] = []
        for json in accepted {
            guard let entry = Entry(json) else {
                throw InputError(description: "token \(token): not an accepted push: \(json.canonicalText)")
            }
            if let state = entry.state, readings[state] == nil {
                throw InputError(description: "token \(token): state \(state) is not in the dump")
            }
            entries.append(entry)
        }
        verdict.accepted += entries.count
        for entry in entries where entry.isUnanswered { verdict.unanswered += 1 }
        if isDead {
            verdict.deadTokens += 1
            return
        }
        if entries.contains(where: { $0.event == "s" }) {
            checkStarts(token, entries)
            return
        }
        verdict.liveTokens += 1
        distinct.append(Set(entries.compactMap(\.state)).count)
        noteReturns(entries)
        checkOrder(token, entries)
        checkAlerts(token, entries)
        checkTopics(token, entries)
    }

    /// Checks that a device has no more starts than activities: an additional start is an additional card. When the answer to a start was
    /// lost, the sender did not know its outcome and had to wait instead.
    private mutating func checkStarts(_ token: String, _ entries: [Entry]) {
        verdict.startTokens += 1
        let starts = entries.filter { $0.event == "s" }
        verdict.starts += starts.count
        if starts.count > expectations.startsPerToken {
            verdict.add(
                .startTwice, token: token, "\(starts.count) starts, the last at \(starts[starts.count - 1].arrival) ms")
        }
        if let other = entries.first(where: { $0.event != "s" }) {
            verdict.add(.startMixed, token: token, "\(other.event) at \(other.arrival) ms")
        }
    }

    private mutating func checkOrder(_ token: String, _ entries: [Entry]) {
        for (before, entry) in zip(entries, entries.dropFirst()) {
            let isSame = entry.state == before.state && entry.event == before.event
            if entry.stamp < before.stamp {
                verdict.add(.stampBack, token: token, "\(entry.stamp) after \(before.stamp), at \(entry.arrival) ms")
            } else if entry.stamp == before.stamp, entry.state != before.state, let state = entry.state,
                let former = before.state, !(before.isUnanswered && areOneVersion(state, former))
            {
                verdict.add(.stampNotRaised, token: token, "two states at \(entry.stamp), at \(entry.arrival) ms")
            }
            if before.event == "e", !(isSame && before.isUnanswered) {
                verdict.add(.afterEnd, token: token, "\(entry.event) after an end, at \(entry.arrival) ms")
            }
            guard isSame else { continue }
            if before.isUnanswered {
                verdict.allowedRepeats += 1
            } else {
                repeats.append(
                    Repeat(
                        token: token, state: entry.state ?? "-",
                        arrivals: before.arrival...max(before.arrival, entry.arrival)))
            }
        }
    }

    /// Notes states that return after another one, such as in a shoot-out in which one player misses the first and the third kick.
    private mutating func noteReturns(_ entries: [Entry]) {
        var seen: Set<String> = []
        var last: String?
        for entry in entries {
            guard let state = entry.state else { continue }
            if state != last, seen.contains(state) {
                let known = returns[state] ?? entry.arrival...entry.arrival
                returns[state] = min(known.lowerBound, entry.arrival)...max(known.upperBound, entry.arrival)
            }
            seen.insert(state)
            last = state
        }
    }

    /// Judges repeats. The state between a state and its return may have been lost with a connection before the server read it. The sender
    /// cannot know that, and the phone may show either, so the sender must send the state that is true now.
    private mutating func judgeRepeats() {
        for found in repeats {
            if let again = returns[found.state],
                again.overlaps(found.arrivals.lowerBound...found.arrivals.upperBound + Judge.sweepMax)
            {
                verdict.repeatsOfReturned += 1
            } else {
                verdict.add(
                    .repeated, token: found.token,
                    "state \(found.state) at \(found.arrivals.lowerBound) ms and again at \(found.arrivals.upperBound) ms"
                )
            }
        }
        repeats = []
    }

    /// Is `true` if two states are one version. A version sent again because its answer was
    /// lost has no alert, so its `highlight` may differ.
    private func areOneVersion(_ a: String, _ b: String) -> Bool {
        readings[a]?.hashButHighlight == readings[b]?.hashButHighlight
    }

    private mutating func checkAlerts(_ token: String, _ entries: [Entry]) {
        var seen: Set<String> = []
        for entry in entries {
            guard let alert = entry.alert else { continue }
            verdict.alerts += 1
            if !seen.insert(alert).inserted {
                verdict.add(
                    .alertTwice, token: token, "\(alertTitles[alert] ?? alert) again at \(entry.arrival) ms")
            }
        }
    }

    private mutating func checkTopics(_ token: String, _ entries: [Entry]) {
        // An end without a state keeps the last state on the card.
        guard let last = entries.last(where: { $0.state != nil }), let hash = last.state, let reading = readings[hash]
        else {
            verdict.add(.neverReached, token: token, "nothing accepted")
            return
        }
        let newest = last.alert == nil ? reading.newest : reading.newestButHighlight
        if let lineups = expectations.lineups {
            checkLineup(token, entries, hash, reading, newest, size: lineups)
        } else {
            checkTopic(token, entries, hash, newest)
        }
    }

    private mutating func checkTopic(_ token: String, _ entries: [Entry], _ hash: String, _ newest: Set<Int>) {
        var candidates: Set<Int>?
        for entry in entries {
            guard let state = entry.state, let topics = readings[state]?.topics else { continue }
            candidates = candidates?.intersection(topics) ?? topics
        }
        if let candidates, candidates.isEmpty {
            verdict.add(.mixedTopics, token: token, "its states belong to no single topic")
            return
        }
        let reached = candidates.map(newest.intersection) ?? newest
        guard let topic = reached.min() else {
            let names = (candidates ?? []).sorted().map { book.topics[$0].id }.joined(separator: " or ")
            verdict.add(
                .stale, token: token,
                "last accepted state \(hash) is not what \(names.isEmpty ? "any topic" : names) published last")
            return
        }
        if reached.allSatisfy({ book.topics[$0].ended }), !entries.contains(where: { $0.event == "e" }) {
            verdict.add(.endMissing, token: token, "\(book.topics[topic].id) has ended")
        }
    }

    private mutating func checkLineup(
        _ token: String, _ entries: [Entry], _ hash: String, _ last: TopicBook.Reading, _ newest: Set<Int>, size: Int
    ) {
        var all: Set<Int> = []
        for entry in entries { all.formUnion(entry.state.flatMap { readings[$0]?.topics } ?? []) }
        let shown = last.topics ?? []
        let count = shown.count + last.more
        // A topic that has ended leaves when it is dismissed; every other topic stays.
        let isCut = book.allPublished && count != size && count + book.ended < size
        if all.count > size || count > size || isCut
            || !all.subtracting(shown).allSatisfy({ book.topics[$0].ended || last.more > 0 })
        {
            verdict.add(.mixedTopics, token: token, "\(max(all.count, count)) topics in a lineup of \(size)")
        }
        if let stale = shown.subtracting(newest).min() {
            verdict.add(
                .stale, token: token,
                "last accepted lineup \(hash) does not show what \(book.topics[stale].id) published last")
        }
    }
}
