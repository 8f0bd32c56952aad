import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct AppTableTests {
    private static let one = AppID(bundleID: "one")
    private static let two = AppID(bundleID: "two", environment: .development)
    private static let absent = AppID(bundleID: "absent")
    private static let match = TopicID("match")
    private static let other = TopicID("other")

    private static func table(_ ids: AppID...) -> AppTable { AppTable(ids, count: ids.count) }

    private static func publication(
        _ serial: UInt64 = 1, of topic: TopicID = AppTableTests.match, event: Publication.Event = .update
    ) -> Publication {
        Publication.test(
            serial, of: topic, event: event,
            alert: Alert(
                cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(60),
                highlight: nil))
    }

    /// Returns the publications among an order's commands.
    private static func published(_ order: (app: Int, commands: [ShardCommand])?) -> [Publication] {
        (order?.commands ?? []).compactMap {
            guard case .publish(let publication) = $0 else { return nil }
            return publication
        }
    }

    /// Returns for each app whether it is muted and whether it is paused.
    private static func orders(_ table: AppTable) -> [[Bool]] { table.orders.map { [$0.isMuted, $0.isPaused] } }

    // MARK: Orders

    @Test func anAppHasTheIndexOfItsShards() {
        let table = Self.table(Self.one, Self.two)
        #expect(table.indices == 0..<2)
        #expect(table.id(of: 0) == Self.one && table.id(of: 1) == Self.two)
    }

    @Test func withoutAPNsOneAppWithoutAnIdGetsEverything() {
        var table = AppTable([], count: 1)
        #expect(table.indices == 0..<1 && table.id(of: 0) == nil)
        let order = table.apply(.mute, for: Self.one)
        #expect(order?.app == nil && !table.isQuieted(0))
        let publication = Self.publication()
        let admitted = table.admit(publication, app: 0)
        #expect(admitted === publication)
    }

    @Test func anOrderConcernsItsAppOnly() {
        var table = Self.table(Self.one, Self.two)
        let publication = Self.publication()
        let order = table.apply(.mute, for: Self.two)
        #expect(order?.app == 1 && order?.commands.isEmpty == true)
        #expect(!table.isQuieted(0) && table.isQuieted(1))
        #expect(table.withholding(publication) == [Self.two])
        let causes = table.indices.map { table.admit(publication, app: $0)?.alert?.cause }
        #expect(causes == ["goal", nil])
        _ = table.apply(.unmute, for: Self.two)
        #expect(!table.isQuieted(1) && table.withholding(publication).isEmpty)
        let admitted = table.admit(publication, app: 1)
        #expect(admitted === publication)
    }

    /// An app has the same bundle id in each environment.
    @Test func anOrderForAnotherEnvironmentIsOneForAnotherApp() {
        var table = Self.table(Self.one, Self.two)
        let order = table.apply(.mute, for: AppID(bundleID: "one", environment: .development))
        #expect(order?.app == nil && !table.isQuieted(0))
    }

    @Test func aPausedAppGetsTheEndsAtOnceAndTheNewestStatesSilentlyInTheirOrderLater() {
        var table = Self.table(Self.one)
        _ = table.apply(.pause, for: Self.one)
        let over = TopicID("over")
        let publications = [
            Self.publication(1), Self.publication(2, of: Self.other), Self.publication(3),
            Self.publication(4, of: over), Self.publication(5, of: over, event: .end),
        ]
        let admitted = publications.map { table.admit($0, app: 0)?.serial }
        #expect(admitted == [nil, nil, nil, nil, 5])
        #expect(table.isQuieted(0) && table.withholding(publications[0]) == [Self.one])
        #expect(table.withholding(publications[4]).isEmpty, "an end has its alert")
        let resumed = Self.published(table.apply(.resume, for: Self.one))
        #expect(resumed.map(\.serial) == [2, 3] && resumed.allSatisfy { $0.alert == nil })
        let again = table.apply(.resume, for: Self.one)
        #expect(again?.commands.isEmpty == true, "each is held back once")
        let next = table.admit(Self.publication(6), app: 0)
        #expect(next?.alert?.cause == "goal")
    }

    @Test func aMutedAppGetsAnEndDuringItsPauseWithoutTheAlert() {
        var table = Self.table(Self.one)
        for order in [FeedEvent.Operation.mute, .pause] { _ = table.apply(order, for: Self.one) }
        let end = Self.publication(event: .end)
        let admitted = table.admit(end, app: 0)
        #expect(admitted?.event == .end && admitted?.alert == nil)
        #expect(table.withholding(end) == [Self.one])
    }

    @Test func aForgottenTopicIsHeldBackForNoApp() {
        var table = Self.table(Self.one, Self.two)
        for app in [Self.one, Self.two] { _ = table.apply(.pause, for: app) }
        for app in table.indices {
            for publication in [Self.publication(1), Self.publication(2, of: Self.other)] {
                _ = table.admit(publication, app: app)
            }
        }
        table.forget(Self.match)
        for app in [Self.one, Self.two] {
            let resumed = Self.published(table.apply(.resume, for: app))
            #expect(resumed.map(\.serial) == [2], "\(app)")
        }
    }

    @Test func onlyAPausedAppIsNotRepublished() {
        var table = Self.table(Self.one)
        var counts: [Int?] = []
        for order in [FeedEvent.Operation.mute, .republish, .pause, .republish, .resume, .republish] {
            let taken = table.apply(order, for: Self.one)
            if order == .republish { counts.append(taken?.commands.count) }
        }
        #expect(counts == [1, 0, 1])
    }

    // MARK: Apps of other engines

    @Test func anOrderForAnAppThatIsNotHereIsKeptUntilItIsLifted() {
        var table = Self.table(Self.one)
        var indices: [Int?] = []
        var withheld: [[AppID]] = []
        for order in [FeedEvent.Operation.pause, .mute, .resume, .unmute] {
            indices.append(table.apply(order, for: Self.absent)?.app)
            withheld.append(table.withholding(Self.publication()))
        }
        #expect(indices == [nil, nil, nil, nil])
        #expect(withheld == [[Self.absent], [Self.absent], [Self.absent], []])
        _ = table.apply(.pause, for: Self.absent)
        #expect(table.withholding(Self.publication(event: .end)).isEmpty, "an end has its alert there, too")
    }

    /// An operator may mistype a name any number of times.
    @Test func ordersForAppsThatAreNotHereAreBoundedAndThoseThatAreKeptCanBeLifted() {
        var table = Self.table(Self.one)
        let names = (0..<1500).map { AppID(bundleID: "app \($0)") }
        for app in names { _ = table.apply(.mute, for: app) }
        #expect(Set(table.withholding(Self.publication())) == Set(names.prefix(1000)))
        _ = table.apply(.pause, for: names[0])
        _ = table.apply(.unmute, for: names[0])
        #expect(table.withholding(Self.publication()).contains(names[0]), "it is paused")
        _ = table.apply(.resume, for: names[0])
        _ = table.apply(.mute, for: names[1200])
        let kept = names[1..<1000] + [names[1200]]
        #expect(Set(table.withholding(Self.publication())) == Set(kept))
    }

    // MARK: Serial form

    private static func written(_ table: AppTable) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(table)
        return writer.bytes
    }

    /// Restores orders into a table without any.
    private static func restored(_ bytes: ArraySlice<UInt8>, into ids: [AppID]) throws(SerialError) -> AppTable {
        var table = AppTable(ids, count: ids.count)
        var reader = SerialReader(bytes)
        try table.restore(&reader)
        guard reader.isAtEnd else { throw .malformed("length") }
        return table
    }

    @Test(arguments: [false, true], [false, true])
    func aCheckpointKeepsTheOrdersOfEachApp(isMuted: Bool, isPaused: Bool) throws {
        var table = Self.table(Self.one, Self.two)
        _ = table.apply(isMuted ? .mute : .pause, for: Self.one)
        if isMuted { _ = table.apply(.mute, for: Self.two) }
        if isPaused { _ = table.apply(.pause, for: Self.two) }
        let restored = try Self.restored(Self.written(table)[...], into: [Self.one, Self.two])
        #expect(Self.orders(restored) == [[isMuted, !isMuted], [isMuted, isPaused]])
    }

    /// Engines with other apps may run on the same store, one after the other.
    @Test func ordersWaitForTheirAppThroughTheCheckpointsOfAnEngineWithoutIt() throws {
        var table = Self.table(Self.one, Self.two)
        _ = table.apply(.mute, for: Self.one)
        _ = table.apply(.pause, for: Self.two)
        _ = table.apply(.mute, for: Self.absent)
        let other = try Self.restored(Self.written(table)[...], into: [Self.two, Self.absent])
        #expect(Self.orders(other) == [[false, true], [true, false]])
        #expect(other.withholding(Self.publication()) == [Self.two, Self.absent, Self.one])
        let back = try Self.restored(Self.written(other)[...], into: [Self.one, Self.two])
        #expect(Self.orders(back) == [[true, false], [false, true]])
        #expect(back.withholding(Self.publication()) == [Self.one, Self.two, Self.absent])
    }

    @Test func nothingIsKeptOfAnAppThatIsNotHereWithoutOrders() throws {
        let restored = try Self.restored(Self.written(Self.table(Self.one, Self.two))[...], into: [Self.absent])
        #expect(Self.written(restored) == Self.written(Self.table(Self.absent)))
    }

    @Test func theSerialFormDoesNotDependOnTheOrderInWhichAbsentAppsWereNamed() {
        let apps = (0..<20).flatMap { number in
            AppID.Environment.allCases.map { AppID(bundleID: "app \(number)", environment: $0) }
        }
        var (first, second) = (Self.table(Self.one), Self.table(Self.one))
        for app in apps { _ = first.apply(.mute, for: app) }
        for app in apps.reversed() { _ = second.apply(.mute, for: app) }
        #expect(Self.written(first) == Self.written(second))
    }

    @Test func bytesThatAreNotASerialFormAreRefused() {
        var table = Self.table(Self.one)
        _ = table.apply(.mute, for: Self.one)
        _ = table.apply(.pause, for: Self.absent)
        let bytes = Self.written(table)
        // Number of apps; each app's bundle id behind its size, its environment, whether it is muted, and whether it is paused.
        let form: [UInt8] = [2, 3, 111, 110, 101, 0, 1, 0, 6, 97, 98, 115, 101, 110, 116, 0, 0, 1]
        #expect(bytes == form)
        for cut in bytes.indices {
            #expect(throws: SerialError.truncated, "\(cut)") { try Self.restored(bytes[..<cut], into: [Self.one]) }
        }
        for (place, part) in [(5, "app"), (6, "mute"), (7, "pause"), (16, "mute"), (17, "pause")] {
            var strange = bytes
            strange[place] = 2
            #expect(throws: SerialError.malformed(part)) { try Self.restored(strange[...], into: [Self.one]) }
        }
    }
}
