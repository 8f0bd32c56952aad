import FanfareModel

/// Topics whose followers have caught up with the newest version, on their way to the core. With a store, a restart then sends nothing to
/// followers who have it.
///
/// A topic is noted when the last of its followers has got the version, and gathered with others.
struct CompletionBook {
    /// Is `true` if the core wants to know.
    private(set) var isKept = false
    /// Is `true` if topics without followers are noted, too, because other shards may have some.
    private(set) var notesAbsence = false
    /// All follows, starts and moves that were taken before that log time have been applied; `nil` until the core has said so.
    private(set) var before: FeedTime?
    private var notes: [TopicCompletion] = []
    /// Number of `notes`, by which an audience knows whether its note is among them.
    private var number: UInt32 = 1
    private var flushesAt: Int64?

    /// Audiences of several members that are owed something, for `CompletionScan`.
    private var unfinished: [AudienceIndex] = []

    /// Activities that no completion speaks of.
    var absentees = Absentees()

    /// Number of times at which phones may have dropped what they were sent.
    private(set) var voids: UInt32 = 0
    /// Is `true` while audiences may have versions that phones have dropped.
    var isSuspended = false

    /// Place of an audience's note.
    struct Place {
        fileprivate var number: UInt32 = 0
        fileprivate var index: UInt32 = 0
        /// Is `true` while the audience is among those that are owed something.
        fileprivate var isUnfinished = false

        /// - Returns: whether the audience was among those that are owed something.
        mutating func endUnfinished() -> Bool {
            defer { isUnfinished = false }
            return isUnfinished
        }
    }

    /// Time for which notes are gathered, in nanoseconds. What a crash loses of them costs a silent push for each follower.
    static let gathering: Int64 = 200_000_000
    /// Number of notes that are not gathered any longer.
    static let notesMax = 4096

    mutating func keep(besideOthers notesAbsence: Bool) { (isKept, self.notesAbsence) = (true, notesAbsence) }

    /// Notes that all follows, starts and moves from before that log time have been applied.
    mutating func advance(to before: FeedTime) { self.before = before }

    /// Notes that everybody who joined so far has the publication.
    ///
    /// - Parameter place: place of the audience's former note, which this one replaces if it is still here.
    mutating func note(_ publication: Publication, at place: inout Place) {
        guard let before, !isSuspended, publication.event == .update, publication.topic.birth > 0,
            let absent = absentees.exceptions(from: publication.topicID)
        else { return }
        let note = TopicCompletion(publication, before: before, except: absent)
        if place.number == number {
            notes[Int(place.index)] = note
        } else {
            (place.number, place.index) = (number, UInt32(notes.count))
            notes.append(note)
        }
    }

    /// Notes that all but these have the publication, of those who joined before that log time.
    mutating func note(_ publication: Publication, before: FeedTime, except lacking: [ActivityMark]) {
        guard !isSuspended, let absent = absentees.exceptions(from: publication.topicID, beside: lacking.count) else {
            return
        }
        notes.append(TopicCompletion(publication, before: before, except: lacking + absent))
    }

    /// Notes that the publication's topic has no followers here.
    mutating func noteAbsence(of publication: Publication) {
        guard isKept, notesAbsence else { return }
        var place = Place()
        note(publication, at: &place)
    }

    /// Notes that the members of an audience are owed something.
    mutating func noteUnfinished(_ index: AudienceIndex, _ place: inout Place) {
        guard isKept, !place.isUnfinished else { return }
        place.isUnfinished = true
        unfinished.append(index)
    }

    /// Is `true` if an audience of one may be noted whose push fails: its topic may have followers in other shards. While very many fail, what a
    /// restart repeats is the least trouble, and each takes time in a pass.
    var takesLoneFailures: Bool { isKept && notesAbsence && unfinished.count < CompletionBook.notesMax }

    var hasUnfinished: Bool { !unfinished.isEmpty }

    /// Removes and returns the audiences that were owed something.
    mutating func takeUnfinished() -> [AudienceIndex] {
        defer { unfinished = [] }
        return unfinished
    }

    /// Time at which notes go to the core, monotonic nanoseconds; `nil` if there are none.
    var due: Int64? { notes.isEmpty ? nil : flushesAt ?? 0 }

    /// Removes and returns the notes, once they have been gathered.
    mutating func take(at now: Int64) -> [TopicCompletion]? {
        guard !notes.isEmpty else { return nil }
        guard let due = flushesAt else {
            flushesAt = now + CompletionBook.gathering
            return nil
        }
        return now >= due || notes.count >= CompletionBook.notesMax ? takeAll() : nil
    }

    /// Drops the notes, and lets a pass that has begun note nothing: phones may lack what they were sent.
    mutating func void() {
        voids &+= 1
        _ = takeAll()
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
