import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

/// Completions of earlier processes and of all shards, as the core keeps them.
@Suite struct PeopleCompletionsTests {
    private static func publication(_ version: UInt32, birth: UInt64 = 7) -> Publication {
        Publication.test(
            UInt64(version), of: TopicID("match/\(birth)"), numbered: TopicNumber(place: 0, birth: birth))
    }

    private static func report(
        _ publication: Publication, before second: Int64 = 10, except exceptions: Range<UInt32> = 0..<0,
        forJoiners: Bool = false
    ) -> TopicCompletion {
        TopicCompletion(
            publication, before: FeedTime(seconds: second), except: exceptions.map { ActivityMark(rawValue: $0) },
            isForJoiners: forJoiners)
    }

    /// Completions of the publications by an earlier process.
    private static func earlier(
        _ publications: [Publication], app: AppID? = nil, through position: LogPosition = 0
    ) -> EarlierCompletions {
        var earlier = EarlierCompletions()
        for publication in publications {
            earlier.insert(
                StoredCompletion(report(publication), app: app, serials: 0),
                at: CompletionKey(birth: publication.topic.birth, app: 0))
        }
        earlier.through = position
        return earlier
    }

    // MARK: Earlier processes

    @Test func withoutAStoreNothingIsKeptAndNobodyHasAnything() {
        var completions = PeopleCompletions(perApp: 2)
        completions.noteShown([Self.publication(1)])
        let (taken, outdated) = (completions.takeEarlier(), completions.takeOutdated())
        #expect(!completions.areKept && !completions.areOf(Self.publication(1), app: nil))
        #expect(taken == nil && outdated.isEmpty)
    }

    @Test func earlierCompletionsAreKnownUntilTheyAreTakenAndReportsGoOn() {
        let shown = Self.publication(1)
        var completions = PeopleCompletions(perApp: 2)
        completions.keep(Self.earlier([shown]))
        #expect(completions.areKept && completions.areOf(shown, app: nil))
        #expect(!completions.areOf(Self.publication(2), app: nil), "nobody has the next version")
        let (taken, again) = (completions.takeEarlier(), completions.takeEarlier())
        #expect(taken?.isOf(shown, app: nil) == true && again == nil)
        #expect(completions.areKept && !completions.areOf(shown, app: nil))
        #expect(completions.violation() == nil)
    }

    @Test func thePeopleOfOneAppMayHaveWhatThoseOfAnotherLack() {
        let (one, two) = (AppID(bundleID: "one"), AppID(bundleID: "two"))
        var completions = PeopleCompletions(perApp: 1)
        completions.keep(Self.earlier([Self.publication(1)], app: one))
        #expect(completions.areOf(Self.publication(1), app: one))
        #expect(!completions.areOf(Self.publication(1), app: two) && !completions.areOf(Self.publication(1), app: nil))
    }

    /// The completions tell of versions under the rules of their time. Those of the entry at which they end were known by then.
    @Test(arguments: [nil, 4, 5, 6] as [LogPosition?]) func onlyRulesBehindTheCompletionsMakeThemVoid(
        position: LogPosition?
    ) {
        let (shown, isVoid) = (Self.publication(1), position == 6)
        var completions = PeopleCompletions(perApp: 1)
        completions.keep(Self.earlier([shown], through: 5))
        completions.noteChange(at: position)
        #expect(completions.areOf(shown, app: nil) == !isVoid)
        completions.noteShown([Self.publication(2)])
        let outdated = completions.takeOutdated()
        // All rows of void completions go, and none by itself.
        #expect(outdated == (isVoid ? [] : [CompletionKey(birth: 7, app: 0)]))
        let taken = completions.takeEarlier()
        #expect((taken == nil) == isVoid && completions.areKept)
    }

    @Test func completionsOfWhatNoTopicShowsAnyMoreAreOutdatedAndToldOnce() {
        var completions = PeopleCompletions(perApp: 1)
        completions.keep(Self.earlier([7, 8, 9].map { Self.publication(1, birth: $0) }))
        let before = completions.takeOutdated()
        #expect(before.isEmpty, "until the recall ends, topics show states of the past")
        completions.noteShown([Self.publication(1, birth: 8), Self.publication(2, birth: 9)])
        let (first, second) = (completions.takeOutdated(), completions.takeOutdated())
        #expect(first == [CompletionKey(birth: 7, app: 0), CompletionKey(birth: 9, app: 0)] && second.isEmpty)
    }

    // MARK: Reports of shards

    @Test func aTopicIsCompleteInAnAppOnceAllShardsOfThatAppSaySo() {
        var completions = PeopleCompletions(perApp: 2)
        let first = completions.take(Self.report(Self.publication(1), before: 20), app: 0, shard: 0)
        let ofOther = completions.take(Self.report(Self.publication(1), before: 5), app: 1, shard: 1)
        let ofOtherTopic = completions.take(Self.report(Self.publication(1, birth: 8), before: 5), app: 0, shard: 1)
        #expect(first == nil && ofOther == nil && ofOtherTopic == nil)
        let whole = completions.take(Self.report(Self.publication(1), before: 30), app: 0, shard: 1)
        #expect(whole?.before == FeedTime(seconds: 20) && whole?.publication.topic.birth == 7)
    }

    /// The void completion may be that of an earlier process, of which no shard has reported yet.
    @Test func aVoidReportIsPassedOnAndTheShardHasToReportAnew() {
        let (report, void) = (
            Self.report(Self.publication(1)), TopicCompletion(voiding: Self.publication(1), of: .followers)
        )
        var completions = PeopleCompletions(perApp: 2)
        let first = completions.take(void, app: 0, shard: 0)
        for shard in 0..<2 { _ = completions.take(report, app: 0, shard: shard) }
        let second = completions.take(void, app: 0, shard: 1)
        let other = completions.take(report, app: 0, shard: 0)
        let whole = completions.take(report, app: 0, shard: 1)
        #expect(first?.isVoid == true && second?.isVoid == true && !void.asksOthers)
        #expect(other == nil && whole?.isVoid == false)
    }

    /// A few followers that lack the version are named; of a version that many lack there is no completion.
    @Test func theExceptionsOfAllShardsTogetherAreBounded() {
        let half = UInt32(TopicCompletion.exceptionsMax / 2)
        var completions = PeopleCompletions(perApp: 2)
        let first = completions.take(Self.report(Self.publication(1), except: 0..<half), app: 0, shard: 0)
        let most = completions.take(Self.report(Self.publication(1), except: half..<2 * half), app: 0, shard: 1)
        let tooMany = completions.take(Self.report(Self.publication(1), except: half..<2 * half + 1), app: 0, shard: 1)
        let few = completions.take(Self.report(Self.publication(1)), app: 0, shard: 1)
        #expect(first == nil && tooMany == nil)
        #expect(most?.exceptions == (0..<2 * half).map { ActivityMark(rawValue: $0) })
        #expect(few?.exceptions == (0..<half).map { ActivityMark(rawValue: $0) })
    }

    @Test func forTheSakeOfJoinersThoseBehindAreAskedInTheSameApp() {
        var completions = PeopleCompletions(perApp: 3)
        for app in 0..<2 {
            for (shard, second) in [Int64(10), 20, 30].enumerated() {
                _ = completions.take(Self.report(Self.publication(1), before: second), app: app, shard: shard)
            }
        }
        let joined = Self.report(Self.publication(1), before: 20, forJoiners: true)
        let asked = completions.takeBehind(joined, app: 1)
        #expect(asked == [0])
        let askedOfOther = completions.takeBehind(joined, app: 2)
        #expect(askedOfOther.isEmpty, "no shard of that app has reported")
        let askedForNobody = completions.takeBehind(Self.report(Self.publication(1), before: 20), app: 1)
        #expect(askedForNobody.isEmpty)
    }

    @Test func aRemovedTopicsReportsAreForgottenInAllAppsAndThoseOfOthersStay() {
        var completions = PeopleCompletions(perApp: 2)
        for app in 0..<2 {
            for birth in [UInt64(7), 8] {
                _ = completions.take(Self.report(Self.publication(1, birth: birth)), app: app, shard: 0)
            }
        }
        completions.forget(7, apps: 2)
        for app in 0..<2 {
            let forgotten = completions.take(Self.report(Self.publication(1)), app: app, shard: 1)
            let kept = completions.take(Self.report(Self.publication(1, birth: 8)), app: app, shard: 1)
            #expect(forgotten == nil && kept?.publication.topic.birth == 8, "app \(app)")
        }
    }

    /// All states are sent again: a shard that has reported one before does not have it now.
    @Test func shardsThatAreSentEverythingAgainReportAgainAndWhatIsStoredStays() {
        var completions = PeopleCompletions(perApp: 2)
        completions.keep(Self.earlier([Self.publication(1)]))
        _ = completions.take(Self.report(Self.publication(1)), app: 0, shard: 0)
        completions.removeReports()
        let half = completions.take(Self.report(Self.publication(1)), app: 0, shard: 1)
        let whole = completions.take(Self.report(Self.publication(1)), app: 0, shard: 0)
        #expect(half == nil && whole != nil)
        #expect(completions.areKept && completions.areOf(Self.publication(1), app: nil))
    }
}
