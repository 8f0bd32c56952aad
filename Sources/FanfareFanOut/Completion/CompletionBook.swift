import FanfareModel

/// Limits of the passes that look for topics which all lineups show.
package struct CompletionLimits: Sendable {
    /// Maximum number of activities that a turn visits.
    let visitsMax: Int
    /// Maximum number of topics that a pass takes up, and of those that a turn lists because they are dismissed.
    let topicsMax: Int

    /// - Parameters:
    ///   - visitsMax: with the default, a turn takes less than a tenth of a millisecond, because a pull may take two turns.
    ///   - topicsMax: with the default, the first turn of a pass, which takes up its topics, takes about a millisecond.
    package init(visitsMax: Int = 1 << 9, topicsMax: Int = 1 << 13) {
        precondition(visitsMax > 0 && topicsMax > 0, "a pass comes to no end")
        self.visitsMax = visitsMax
        self.topicsMax = topicsMax
    }
}

/// Topics whose followers or lineups have caught up with the newest version, on their way to the core. With a store, a restart then sends these
/// nothing.
///
/// A topic is noted when the last of its followers has got the version, and gathered with others.
struct CompletionBook {
    /// Is `true` if the core wants notes.
    private(set) var isKept = false
    /// Is `true` if topics without followers are noted, too, because other shards may have some.
    private(set) var notesAbsence = false
    private(set) var limits = CompletionLimits()
    /// Log time before which all taken follows, starts and moves have been applied; `nil` until the core has sent it.
    private(set) var before: FeedTime?
    private var notes: [TopicCompletion] = []
    /// Number of `notes`, by which an audience knows whether its note is among them.
    private var number: UInt32 = 1
    private var flushesAt: MonotonicTime?

    /// Audiences that are to be noted anew for their joiners.
    private var joined = JoinedAudiences()

    /// Topics of lineups that are to be noted, for `LineupCompletionScan`.
    var unnoted = UnnotedTopics()
    /// Topics that `LineupCompletionScan` lists when they leave their lineups.
    var dismissals = AwaitedDismissals()

    /// Audiences of several members that are owed something, for `CompletionScan`.
    private var unfinished: [AudienceIndex] = []

    /// Activities that their topics' completions except.
    private(set) var absentees = Absentees()

    /// Serial of the last publication that came before the core sent `before`, for example while cards were loaded. Shards without followers could
    /// not report the publications up to this one, so the core is to ask them.
    private var unreportedThrough: UInt64 = 0

    /// Number of times that a running pass became void.
    private(set) var voids: UInt32 = 0
    /// Is `true` while audiences may have versions that phones have dropped.
    var isSuspended = false

    /// Time for which notes are gathered. A note lost to a crash costs a silent push for each follower.
    static let gathering = Duration.milliseconds(200)
    /// Number of notes at which gathering ends, and that go to the core at a time.
    static let notesMax = 4096

    mutating func keep(besideOthers notesAbsence: Bool, _ limits: CompletionLimits = CompletionLimits()) {
        (isKept, self.notesAbsence, self.limits) = (true, notesAbsence, limits)
    }

    /// Notes that all follows, starts and moves from before that log time have been applied.
    ///
    /// - Parameter sent: log time after which no applied call was taken.
    mutating func advance(to before: FeedTime, sent: FeedTime) {
        self.before = before
        joined.advance(to: before, sent: sent)
        if isKept { unnoted.advance(to: before, sent: sent) }
    }

    /// Notes that these topics' lineups are to be noted.
    mutating func list(_ topics: some Sequence<TopicIndex>, for reasons: UnnotedTopics.Reasons = []) {
        guard isKept else { return }
        for topic in topics { unnoted.list(topic, for: reasons) }
    }

    /// Notes that a topic's lineups have news.
    mutating func noteNews(ofLineupsWith topic: TopicIndex) { if isKept { unnoted.list(topic) } }

    /// Notes that an activity has joined a lineup with these topics: no note covers it while log time stands.
    mutating func noteJoined(lineupOf topics: some Sequence<TopicIndex>) {
        guard isKept else { return }
        for topic in topics { unnoted.noteJoined(topic) }
    }

    /// Notes that an activity has joined an audience of a topic: no note covers it while log time stands.
    mutating func noteJoined(_ index: AudienceIndex, _ place: inout CompletionPlace) {
        if isKept { joined.note(index, &place.joined) }
    }

    /// Is `true` while the store's cards are loaded: a later card may lack the version of all others.
    var isLoading: Bool { joined.isLoading }

    mutating func beginLoading() { joined.isLoading = true }

    /// Notes that a publication has arrived.
    mutating func noteArrival(of publication: Publication) {
        guard before == nil, publication.serial < Publication.ownSerials else { return }
        unreportedThrough = max(unreportedThrough, publication.serial)
    }

    /// Notes an audience whose members have had its newest version while cards are loaded.
    mutating func noteLoaded(_ index: AudienceIndex, _ place: inout CompletionPlace) {
        joined.noteLoaded(index, &place.joined)
    }

    /// Lets notes cover all followers, because all cards are loaded.
    mutating func endLoading() { joined.endLoading() }

    var hasCaughtUp: Bool { !joined.caughtUp.isEmpty }

    /// Removes and returns an audience to be noted anew for its joiners.
    mutating func takeCaughtUp() -> AudienceIndex? { joined.caughtUp.popLast() }

    /// Notes that an activity is not in its stored audience.
    ///
    /// - Parameter token: `keyedHash` of the token that the store has, if it was handed in with the call.
    mutating func noteAbsence(of activity: ActivityMark, from key: AudienceKey, token: UInt64? = nil) {
        if isKept { absentees.note(activity, absentFrom: key, token: token) }
    }

    /// Notes that an activity is in its stored audience, or is over. It has joined long after its stored time, so a running pass may have gone past
    /// it.
    ///
    /// - Parameter token: `keyedHash` of the token of an activity that is over: the store has another card if it has another token.
    mutating func forgetAbsence(of activity: ActivityMark, token: UInt64? = nil) {
        if absentees.remove(activity, token: token) { voids &+= 1 }
    }

    /// Notes that all joiners so far have the publication.
    ///
    /// - Parameter place: place of the audience's former note, which this one replaces if it is still here.
    mutating func note(_ publication: Publication, at place: inout CompletionPlace) {
        guard let before, !isSuspended, publication.event == .update, publication.topic.birth > 0,
            let absent = absentees.exceptions(from: publication.topicID)
        else { return }
        let former = place.number == number ? notes[Int(place.index)] : nil
        let note = TopicCompletion(
            publication, before: before, except: absent,
            isForJoiners: place.isForJoiners || former?.isForJoiners == true || publication.serial <= unreportedThrough)
        place.isForJoiners = false
        if former != nil {
            notes[Int(place.index)] = note
        } else {
            (place.number, place.index) = (number, UInt32(notes.count))
            notes.append(note)
        }
    }

    /// Notes that all joiners before that log time have the publication, except these.
    ///
    /// - Parameter isForJoiners: `true` if joiners wait for a note.
    /// - Returns: `false` if the publication is not noted, because absentees make the exceptions too many, or phones may have dropped it.
    @discardableResult mutating func note(
        _ publication: Publication, of scope: CompletionScope = .followers, before: FeedTime,
        except lacking: [ActivityMark], isForJoiners: Bool
    ) -> Bool {
        guard !isSuspended,
            let absent = absentees.exceptions(from: publication.topicID, in: scope, beside: lacking.count)
        else { return false }
        notes.append(
            TopicCompletion(
                publication, of: scope, before: before, except: lacking + absent,
                isForJoiners: isForJoiners || scope == .followers && publication.serial <= unreportedThrough))
        return true
    }

    /// Notes that a restart is to send the publication to its lineups, whatever was noted before. Earlier notes that are still here come first.
    mutating func noteVoid(ofLineupsWith publication: Publication) {
        guard isKept, !isSuspended else { return }
        notes.append(TopicCompletion(voiding: publication, of: .lineups))
    }

    /// Notes, for the sake of other shards, that no lineup here shows the publication's topic.
    mutating func noteWithoutLineups(_ publication: Publication) {
        guard isKept, let before, !isLoading, publication.topic.birth > 0 else { return }
        note(publication, of: .lineups, before: before, except: [], isForJoiners: false)
    }

    /// Notes that the publication's topic has no followers here.
    mutating func noteUnfollowed(_ publication: Publication) {
        guard isKept, notesAbsence else { return }
        var place = CompletionPlace()
        note(publication, at: &place)
    }

    /// Notes that the members of an audience are owed something.
    mutating func noteUnfinished(_ index: AudienceIndex, _ place: inout CompletionPlace) {
        guard isKept, !place.isUnfinished else { return }
        place.isUnfinished = true
        unfinished.append(index)
    }

    /// Is `true` if an audience of one may be noted when its push fails, because its topic may have followers in other shards. While very many pushes
    /// fail, the repeats of a restart matter least, and each audience takes time in a pass.
    var takesLoneFailures: Bool { isKept && notesAbsence && unfinished.count < CompletionBook.notesMax }

    var hasUnfinished: Bool { !unfinished.isEmpty }

    /// Removes and returns the audiences that were owed something.
    mutating func takeUnfinished() -> [AudienceIndex] {
        defer { unfinished = [] }
        return unfinished
    }

    /// Time at which notes go to the core; `nil` if there are none.
    var due: MonotonicTime? { notes.isEmpty ? nil : flushesAt ?? .always }

    /// Removes and returns the notes, once they have been gathered, or the first of very many.
    mutating func take(at now: MonotonicTime) -> [TopicCompletion]? {
        guard !notes.isEmpty else { return nil }
        guard let due = flushesAt else {
            flushesAt = now + CompletionBook.gathering
            return nil
        }
        return now >= due || notes.count >= CompletionBook.notesMax ? takeFirst() : nil
    }

    private mutating func takeFirst() -> [TopicCompletion] {
        guard notes.count > CompletionBook.notesMax else { return takeAll() }
        // The others have other places from now on.
        number &+= 1
        let first = Array(notes.prefix(CompletionBook.notesMax))
        notes.removeFirst(CompletionBook.notesMax)
        return first
    }

    /// Drops the notes, and makes a running pass void: phones may lack accepted pushes.
    mutating func void() {
        voids &+= 1
        _ = takeAll()
    }

    /// Describes an audience's note, or its entry among the unfinished ones, that is not here, or notes that may not be; `nil` if there is none.
    ///
    /// - Parameter places: the places of the audiences, by their indices.
    func violation(places: [(index: AudienceIndex, place: CompletionPlace)] = []) -> String? {
        guard isKept || notes.isEmpty && unfinished.isEmpty && absentees.isEmpty else {
            return "\(notes.count) completions are noted, and nobody wants them"
        }
        guard !isSuspended || notes.isEmpty, flushesAt == nil || !notes.isEmpty else {
            return "\(notes.count) completions are noted at a wrong time"
        }
        let listed = Set(unfinished)
        var noted: Set<UInt32> = []
        for (index, place) in places {
            if place.number == number {
                guard Int(place.index) < notes.count, noted.insert(place.index).inserted else {
                    return "the note of audience \(index) is another's, or none"
                }
            }
            guard !place.isUnfinished || listed.contains(index) else {
                return "audience \(index) is unfinished, and not listed"
            }
        }
        return joined.violation() ?? unnoted.violation() ?? dismissals.violation() ?? absentees.violation()
    }

    /// Removes and returns the notes.
    mutating func takeAll() -> [TopicCompletion] {
        defer {
            notes = []
            number &+= 1
            flushesAt = nil
        }
        return notes
    }
}
