import FanfareModel
import FanfareTestSupport
import Foundation
import Glibc
import Testing

@testable import FanfareLog

@Suite struct PeopleStoreTests {
    private func cards(_ store: any PeopleStore) throws -> [CardKey: Card] {
        var found: [CardKey: Card] = [:]
        var last: CardKey?
        try store.read { (key, card) throws(LogError) in
            if let last { #expect((last.slice, last.serial) < (key.slice, key.serial)) }
            last = key
            if case .success(let card) = card { found[key] = card }
            return true
        }
        return found
    }

    /// Random changes of a store in memory and one on disk, which is opened anew now and then, and merges changed cards all the time.
    @Test(arguments: [UInt64(1), 2, 3, 4]) func theStoreInMemoryAndTheStoreOnDiskKeepEqualCards(seed: UInt64) throws {
        let folder = TemporaryFolder()
        var random = SplitMix64(seed: seed)
        let memory = MemoryPeopleStore()
        var opened: LMDBPeopleStore?
        for round in 1...40 {
            let keys = try cards(memory).keys.sorted { ($0.slice, $0.serial) < ($1.slice, $1.serial) }
            let changes: [PeopleChange] = (0..<50).map { _ in
                guard let key = keys.randomElement(using: &random), !random.chance(0.6) else {
                    return .insert(CardSamples.random(using: &random))
                }
                return random.chance(0.5) ? .remove(key) : .replace(key, CardSamples.random(using: &random))
            }
            // A change of a card that an earlier one of the same batch has removed differs by store, and no caller makes one.
            var touched: Set<CardKey> = []
            let distinct = changes.filter { change in
                switch change {
                case .insert: true
                case .replace(let key, _), .remove(let key): touched.insert(key).inserted
                }
            }
            // LMDB forbids two environments of one file in a process, so the old one goes first.
            if round.isMultiple(of: 7) { opened = nil }
            let disk = try opened ?? LMDBPeopleStore(store: folder.path, mapSize: .mebibytes(1), mergeMin: 20)
            opened = disk
            try memory.apply(distinct, upTo: UInt64(round))
            try disk.apply(distinct, upTo: UInt64(round))
            #expect(try cards(disk) == cards(memory), "seed \(seed), round \(round)")
            #expect(try disk.count() == memory.count() && disk.position == memory.position)
            for key in keys + [CardKey(slice: 0, serial: 1 << 40)] {
                #expect(try disk.card(key) == memory.card(key), "seed \(seed), round \(round)")
            }
            if round.isMultiple(of: 19) { try disk.merge() }
        }
    }

    /// A reader knows changed cards that are merged, that are not, and that are being merged.
    @Test func aReaderSeesChangedCards() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path, mergeMin: 8)
        try store.apply((0..<40).map { .insert(CardSamples.card($0)) })
        let keys = try cards(store).keys.sorted { $0.serial < $1.serial }
        for (index, key) in keys.enumerated() {
            try store.apply([.replace(key, CardSamples.card(100 + index))])
            let copy = TemporaryFolder()
            // LMDB forbids two environments of one file in a process.
            try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
            #expect(try cards(LMDBPeopleStore(store: copy.path, isReadOnly: true)) == cards(store))
        }
    }

    /// A release that knows no changed cards beside the slices refuses a store that has some, and no other.
    @Test func aStoreWithChangedCardsHasAFormOfItsOwn() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        try store.apply([.insert(CardSamples.card(1))])
        let key = try #require(try cards(store).keys.first)
        func form() throws -> UInt8? {
            let file = try LMDBEnvironment(
                folder: folder.path + "/people", tables: ["head"], mapSize: .mebibytes(1), isReadOnly: true)
            return try file.row(0, 0)?.first
        }
        _ = consume store
        #expect(try form() == 1)
        try LMDBPeopleStore(store: folder.path).apply([.replace(key, CardSamples.card(2))])
        #expect(try form() == 2)
        try LMDBPeopleStore(store: folder.path).merge()
        #expect(try form() == 1)
        #expect(try cards(LMDBPeopleStore(store: folder.path)) == [key: CardSamples.card(2)])
    }

    /// The head as this release writes it, without changed cards beside the slices and with one. The bytes never change.
    @Test func theFormsOfTheHeadOfPeopleStayReadable() throws {
        let folder = TemporaryFolder()
        func head() throws -> String? {
            let file = try LMDBEnvironment(
                folder: folder.path + "/people", tables: ["head"], mapSize: .mebibytes(1), isReadOnly: true)
            return try file.row(0, 0)?.map { String(format: "%02x", $0) }.joined()
        }
        try LMDBPeopleStore(store: folder.path).apply([.insert(CardSamples.card(1))], upTo: 300)
        #expect(try head() == "0102ac02" + "ade7512c")
        let key = try #require(try cards(LMDBPeopleStore(store: folder.path)).keys.first)
        try LMDBPeopleStore(store: folder.path).apply([.replace(key, CardSamples.card(2))], upTo: 301)
        #expect(try head() == "0202ad02" + "0279ff27")
        let store = try LMDBPeopleStore(store: folder.path)
        #expect(store.nextSerial == 2 && store.position == 301)
    }

    /// A changed card that was damaged is told, and hides and changes no other.
    @Test func aDamagedChangeIsTold() throws {
        let folder = TemporaryFolder()
        try LMDBPeopleStore(store: folder.path).apply([.insert(CardSamples.card(1))])
        let tables = ["changes"]
        try LMDBEnvironment(folder: folder.path + "/people", tables: tables, mapSize: .mebibytes(1), isReadOnly: false)
            .write([.init(key: 1, row: [UInt8](repeating: 255, count: 20))])
        func faults(_ store: LMDBPeopleStore) throws -> [SerialError] {
            var faults: [SerialError] = []
            try store.read { (_, card) throws(LogError) in
                if case .failure(let error) = card { faults.append(error) }
                return true
            }
            return faults
        }
        let store = try LMDBPeopleStore(store: folder.path)
        #expect(try faults(store) == [.malformed("key")] && cards(store).count == 1)
        try store.merge()
        #expect(try faults(store).isEmpty && cards(store).count == 1)
    }

    /// An import that was killed before its first commit leaves an environment without tables.
    @Test func aStoreWithoutTablesHasNoPeople() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/people", withIntermediateDirectories: true)
        // LMDB writes the two pages of its head first.
        let file = folder.path + "/people/data.mdb"
        try Data(count: 2 * Int(getpagesize())).write(to: URL(fileURLWithPath: file))
        #expect(!LMDBPeopleStore.exists(store: folder.path))
        try FileManager.default.removeItem(atPath: file)
        _ = try LMDBPeopleStore(store: folder.path)
        #expect(LMDBPeopleStore.exists(store: folder.path))
    }

    @Test func aSerialIsNotGivenAgain() throws {
        let folder = TemporaryFolder()
        func insert(then remove: Bool) throws -> CardKey {
            let store = try LMDBPeopleStore(store: folder.path)
            try store.apply([.insert(CardSamples.card(1))])
            let key = try #require(try cards(store).keys.max { $0.serial < $1.serial })
            if remove { try store.apply([.remove(key)]) }
            return key
        }
        let first = try insert(then: true)
        #expect(try insert(then: false).serial > first.serial)
    }

    @Test func cardsAreReadBehindASerialAndAcrossTransactions() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        let all = (0..<2500).map { CardSamples.card($0, subscriber: "anna") }
        try store.apply(all.map(PeopleChange.insert))
        let slice = Card.slice(ofSubscriber: "anna", token: [])
        func read(from serial: UInt64) throws -> [Card] {
            var found: [Card] = []
            try store.read(slice: slice, from: serial) { (_, card) throws(LogError) in
                found.append((try? card.get()) ?? CardSamples.card(-1))
                return true
            }
            return found
        }
        #expect(try read(from: 0) == all)
        #expect(try read(from: 2001) == Array(all[2000...]))
        #expect(try read(from: 2501) == [])
        #expect(try store.count(slice: slice) == 2500)
    }

    /// The closure may remove what it is given, and the rest is read all the same.
    @Test func aCardMayBeRemovedWhileItIsRead() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        try store.apply((0..<3000).map { .insert(CardSamples.card($0)) })
        var seen = 0
        try store.read { (key, _) throws(LogError) in
            seen += 1
            if seen.isMultiple(of: 2) { try store.apply([.remove(key)]) }
            return seen < 200
        }
        #expect(try store.count() == 2900)
    }

    @Test func aDamagedCardDoesNotHideThoseBehindIt() throws {
        let folder = TemporaryFolder()
        do {
            let store = try LMDBPeopleStore(store: folder.path)
            try store.apply(
                (0..<100).map { number in
                    var card = CardSamples.card(number, subscriber: "anna")
                    card.activity = "activity \(number)."
                    return .insert(card)
                })
        }
        let file = URL(fileURLWithPath: folder.path + "/people/data.mdb")
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("activity 42.".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        let store = try LMDBPeopleStore(store: folder.path, isReadOnly: true)
        var faults: [UInt64] = []
        var good = 0
        try store.read { (key, card) throws(LogError) in
            if case .failure(.checksum) = card { faults.append(key.serial) } else { good += 1 }
            return true
        }
        #expect(faults == [43] && good == 99)
    }

    @Test func aCardThatIsTooLargeIsRefusedAndNothingOfItsBatchIsWritten() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        var large = CardSamples.card(1)
        large.activity = String(repeating: "x", count: Card.sizeMax.bytes)
        var endless = CardSamples.card(1)
        endless.token = [UInt8](repeating: 1, count: 513)
        for card in [large, endless] {
            let error = #expect(throws: LogError.self) {
                try store.apply([.insert(CardSamples.card(2)), .insert(card)])
            }
            #expect(error?.isFinal == true)
        }
        #expect(try store.count() == 0)
    }

    /// Opens a folder whose head is this row, and returns the fault.
    private func fault(ofHead row: [UInt8]) throws -> LogError? {
        let folder = TemporaryFolder()
        do {
            let store = try LMDBPeopleStore(store: folder.path)
            try store.apply([])
        }
        do {
            let environment = try LMDBEnvironment(
                folder: folder.path + "/people", tables: ["head"], mapSize: .mebibytes(1), isReadOnly: false)
            try environment.write([.init(key: 0, row: row)])
        }
        return #expect(throws: LogError.self) { try LMDBPeopleStore(store: folder.path) }
    }

    @Test func theFolderOfANewerReleaseIsRefused() throws {
        let error = try fault(ofHead: LogEntry.sealed([3, 1, 0], at: 0))
        #expect(error?.cause == .newerRelease && error?.description.contains("a newer release wrote") == true)
    }

    @Test func aDamagedHeadIsTold() throws {
        let error = try fault(ofHead: [1, 1, 0, 9, 9, 9, 9])
        #expect(error?.cause == .damaged && error?.description.contains("its checksum is wrong") == true)
    }

    @Test func peopleThatWereCutShortAreRefused() throws {
        let folder = TemporaryFolder()
        do {
            let store = try LMDBPeopleStore(store: folder.path)
            try store.apply((0..<3000).map { .insert(CardSamples.card($0)) })
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/people/data.mdb"))
        try handle.truncate(atOffset: 16_384)
        try handle.close()
        for isReadOnly in [true, false] {
            let error = #expect(throws: LogError.self) {
                try LMDBPeopleStore(store: folder.path, isReadOnly: isReadOnly)
            }
            #expect(error?.cause == .damaged && error?.description.contains("cut short") == true)
        }
    }

    @Test func aFolderThatVanishesTakesNothing() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        try FileManager.default.removeItem(atPath: folder.path)
        let error = #expect(throws: LogError.self) { try store.apply([.insert(CardSamples.card(1))]) }
        #expect(error?.description.contains("was removed") == true)
    }

    /// A new file would lack all cards, and take changes as if it had them.
    @Test func aFileThatVanishesIsNotBegunAnew() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        try store.apply([.insert(CardSamples.card(1))])
        let file = folder.path + "/people/data.mdb"
        try FileManager.default.removeItem(atPath: file)
        for serial in 2...4 {
            let error = #expect(throws: LogError.self) { try store.apply([.insert(CardSamples.card(serial))]) }
            #expect(error?.description.contains("was removed; restore the folder") == true, "\(error.debugDescription)")
        }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func aFolderWithoutPeopleSaysHowToMakeThem() {
        let error = #expect(throws: LogError.self) { try LMDBPeopleStore(store: "/proc/no-such", isReadOnly: true) }
        #expect(error?.description.contains("fanfare people import") == true)
    }

    @Test func onlyTheOwnerMayReadTheFolder() throws {
        let folder = TemporaryFolder()
        _ = try LMDBPeopleStore(store: folder.path)
        let modes = try ["", "/people", "/people/data.mdb"].map {
            try FileManager.default.attributesOfItem(atPath: folder.path + $0)[.posixPermissions] as? Int
        }
        #expect(modes == [0o700, 0o700, 0o600])
    }

    @Test func oneProcessWritesToTheFolder() throws {
        let folder = TemporaryFolder()
        let store = try LMDBPeopleStore(store: folder.path)
        let error = #expect(throws: LogError.self) { try LMDBPeopleStore(store: folder.path) }
        #expect(error?.description.contains("another process uses this store") == true)
        try store.apply([.insert(CardSamples.card(1))])
    }

    // MARK: Dead readers

    /// - Parameter process: the one that runs the test; a reader that it starts finds the store by it.
    private static func folderOfKilledReader(_ process: pid_t) -> String {
        NSTemporaryDirectory() + "fanfare-test.\(process).killed-reader"
    }

    /// A reader that was killed, as a backup may be, keeps LMDB from using pages again until the writing process forgets the reader.
    @Test(.timeLimit(.minutes(5))) func aKilledReaderDoesNotLetTheFileGrowForEver() async throws {
        let folder = Self.folderOfKilledReader(getpid())
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try LMDBPeopleStore(store: folder)
        try store.apply([.insert(CardSamples.card(1))])
        let key = try #require(try cards(store).keys.first)
        let before = store.diskSize.file.bytes
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let people = try LMDBEnvironment(
                folder: PeopleStoreTests.folderOfKilledReader(getppid()) + "/people", tables: ["head"],
                mapSize: .mebibytes(1), isReadOnly: true)
            try people.scan(from: 0) { _, _ in
                kill(getpid(), SIGKILL)
                return false
            }
        }
        func replace() throws(LogError) {
            for number in 0..<LMDBEnvironment.readerCheckInterval + 100 {
                try store.apply([.replace(key, CardSamples.card(1 + number % 2))])
            }
        }
        try replace()
        let first = store.diskSize.file.bytes
        #expect(first > 4 * before, "the reader has kept no page, so the test proves nothing")
        try replace()
        let second = store.diskSize.file.bytes
        #expect(4 * second < 5 * first, "\(before), \(first), then \(second) bytes")
    }
}
