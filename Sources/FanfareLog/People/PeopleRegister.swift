package import FanfareModel

/// All cards of an engine's people by name, on top of a store: it loads them, and makes entries durable as changes of rows.
///
/// It keeps some six bytes for each card in memory (`CardIndex`). Its calls block. `Sendable` is unchecked because one
/// thread at a time uses it: the one that loads, then a `PeopleQueue`'s.
package final class PeopleRegister: @unchecked Sendable {
    /// `nil` once closed.
    private var store: (any PeopleStore)?
    /// The engine's first app, to which cards without an app belong; `nil` for an engine that pushes to no app.
    private let firstApp: AppID?
    /// Keys of the cards by the bits of their `ActivityID`s.
    private var index = CardIndex()
    /// Keys of the cards whose rows have another id now: a card that is named by its token has got a new token since it was loaded.
    private var renamed: [UInt64: CardKey] = [:]
    /// Place at which a failed `load` goes on.
    private var loading: CardKey?
    /// Rows that `remove` has not removed.
    private var unremoved: [(key: CardKey, card: Card)] = []
    /// Transaction of a failed `apply`.
    private var failed: Transaction?
    /// For each entry of the last `apply`: `true` if the store keeps it. An entry about a card that the store does not have is not kept.
    package private(set) var kept: [Bool] = []

    /// - Parameter firstApp: app of cards whose rows have none; `nil` for an engine that pushes to no app.
    package init(_ store: any PeopleStore, firstApp: AppID? = nil) {
        self.store = store
        self.firstApp = firstApp
    }

    /// Releases the store's folder.
    package func close() { store = nil }

    /// Number of cards, as far as `load` has come.
    var cardCount: Int { index.count }
    /// Bytes of the people's file.
    var diskSize: DiskSize { store?.diskSize ?? DiskSize() }

    /// Serial of the next card; stored cards have lower ones.
    package var nextSerial: UInt64 { store?.nextSerial ?? 0 }

    /// Number of cards, before `load`.
    package func count() throws(LogError) -> Int { try store?.count() ?? 0 }

    /// Reads all cards, slice by slice. The last of several cards with one name counts. The next call after an error goes on where this one stopped.
    ///
    /// - Parameters:
    ///   - sliceEnds: called after the cards of each slice.
    ///   - body: called with each card and its place, or with a line about a row that cannot be read, until it returns `false`.
    package func load(
        sliceEnds: () -> Void = {}, _ body: (Result<(CardKey, Card), LogError>) -> Bool
    ) throws(LogError) {
        guard let store else { return }
        if loading == nil { (index, renamed) = (CardIndex(expectedCount: try store.count()), [:]) }
        var goesOn = true
        var next = loading ?? CardKey(slice: 0, serial: 0)
        while goesOn, next.slice < Card.slices {
            loading = next
            try store.read(slice: next.slice, from: next.serial) { (key, found) throws(LogError) in
                loading = CardKey(slice: key.slice, serial: key.serial + 1)
                switch found {
                case .success(let card):
                    index.insert(card.id.rawValue, at: key)
                    goesOn = body(.success((key, card)))
                case .failure(let error):
                    goesOn = body(
                        .failure(
                            LogError(
                                "card \(key.serial) of slice \(key.slice): \(error); \(error.remedy)", .damaged)))
                }
                return goesOn
            }
            sliceEnds()
            next = CardKey(slice: next.slice + 1, serial: 0)
        }
        loading = nil
    }

    /// Place at which a failed `load` goes on; `nil` if none has failed.
    package var loadsOnAt: CardKey? { loading }

    /// Lets a failed `load` go on after the slice that cannot be read.
    package func skipSlice() { loading = loading.map { CardKey(slice: $0.slice + 1, serial: 0) } }

    /// Returns whether no row with the card's name was inserted after this one.
    package func isNewest(_ card: Card, at key: CardKey) throws(LogError) -> Bool {
        let candidates = index.candidates(card.id.rawValue)
        // There is nearly always only one candidate.
        guard candidates.count > 1, let store else { return true }
        for candidate in candidates where candidate != key {
            if candidate.serial > key.serial, try store.card(candidate)?.id.rawValue == card.id.rawValue {
                return false
            }
        }
        return true
    }

    /// Returns whether the store has a card of this activity.
    package func has(_ activity: ActivityID) throws(LogError) -> Bool {
        guard let store else { return false }
        for key in index.candidates(activity.rawValue) {
            if try store.card(key)?.id.rawValue == activity.rawValue { return true }
        }
        return false
    }

    /// Removes rows whose names newer rows have.
    package func remove(_ rows: [(key: CardKey, card: Card)]) throws(LogError) {
        unremoved += rows
        try removeRest()
    }

    /// Repeats a failed removal, which may have been written: the store must get the same call again before any other.
    private func removeRest() throws(LogError) {
        guard !unremoved.isEmpty, let store else { return }
        try store.apply(unremoved.map { .remove($0.key) }, upTo: store.position + 1)
        for (key, card) in unremoved { index.remove(card.id.rawValue, at: key) }
        unremoved = []
    }

    /// Makes the entries durable, in order, in one transaction. The only call allowed after an error is the same one.
    package func apply(_ entries: [PeopleEntry]) throws(LogError) {
        kept = []
        guard !entries.isEmpty, let store else { return }
        try removeRest()
        // A failed transaction may have been written, so the repeated call must not begin with the store's rows.
        let transaction: Transaction
        if let former = failed.take() {
            transaction = former
        } else {
            transaction = try self.transaction(of: entries, store)
        }
        do throws(LogError) { try commit(transaction, store) } catch {
            failed = transaction
            throw error
        }
        kept = transaction.kept
    }

    private func transaction(of entries: [PeopleEntry], _ store: any PeopleStore) throws(LogError) -> Transaction {
        var batch = Batch()
        var kept: [Bool] = []
        for entry in entries { kept.append(try take(entry, into: &batch, store)) }
        return transaction(of: batch, kept: kept, store)
    }

    /// Cards that the entries of one transaction have changed.
    private struct Batch {
        struct Change {
            /// Key of the card's row; `nil` without a row.
            var key: CardKey?
            /// New content of the row; `nil` to remove it.
            var card: Card?
        }

        var changes: [UInt64: Change] = [:]
        /// Bits of the ids in the order of their first change.
        var order: [UInt64] = []

        mutating func set(_ id: UInt64, _ change: Change) {
            if changes.updateValue(change, forKey: id) == nil { order.append(id) }
        }
    }

    private func change(of id: UInt64, in batch: Batch, _ store: any PeopleStore) throws(LogError) -> Batch.Change {
        if let change = batch.changes[id] { return change }
        if let key = renamed[id] { return Batch.Change(key: key, card: try store.card(key)?.belonging(to: firstApp)) }
        for key in index.candidates(id) {
            if let card = try store.card(key), card.id.rawValue == id {
                return Batch.Change(key: key, card: card.belonging(to: firstApp))
            }
        }
        return Batch.Change()
    }

    /// - Returns: `true` if the store will keep the entry.
    private func take(
        _ entry: PeopleEntry, into batch: inout Batch, _ store: any PeopleStore
    ) throws(LogError) -> Bool {
        let id = entry.id
        var change = try change(of: id, in: batch, store)
        switch entry {
        case .follow(let card): change.card = change.card.map { card.following($0) } ?? card
        case .start(let card):
            // A start of an existing card moves it. It also says how to renew the card, which the store does not keep.
            if let known = change.card, known.phase != .starting {
                guard known.audience != card.audience else { return false }
                _ = try take(.move(card.id, card.audience, joinedAt: card.joinedAt), into: &batch, store)
                return false
            }
            change.card = change.card.map { card.starting($0) } ?? card
        case .removed(_, let token):
            guard let card = change.card, card.token.keyedHash == token else { return true }
            change.card = nil
        default:
            guard var card = change.card else { return false }
            card.take(entry)
            // The card of a start that is taken back has no token for its end.
            change.card = card.phase == .leaving && change.card?.phase == .starting ? nil : card
        }
        if let card = change.card {
            let insertion = PeopleChange.insert(card)
            do throws(LogError) { try insertion.check() } catch { return false }
            let row = card.bytes(serial: .max)
            guard row.count <= Card.sizeMax.bytes else { return false }
            // A start's attributes may be nested deeper than a restart reads.
            if case .start = entry, (try? Card(row, serial: .max)) == nil { return false }
        }
        batch.set(id, change)
        return true
    }

    /// Changes of rows, and of the register with them.
    private struct Transaction {
        var kept: [Bool]
        var changes: [PeopleChange] = []
        var added: [(id: UInt64, key: CardKey)] = []
        var removed: [(id: UInt64, key: CardKey)] = []
        var renamed: [(id: UInt64, key: CardKey)] = []
    }

    private func transaction(of batch: Batch, kept: [Bool], _ store: any PeopleStore) -> Transaction {
        var transaction = Transaction(kept: kept)
        var serial = store.nextSerial
        for id in batch.order {
            guard let change = batch.changes[id] else { continue }
            guard let card = change.card else {
                guard let key = change.key else { continue }
                transaction.changes.append(.remove(key))
                transaction.removed.append((id, key))
                continue
            }
            let slice = Card.slice(ofSubscriber: card.subscriber, token: card.token)
            // A card with a new subscriber may belong to another slice. A card without a subscriber stays in its slice.
            if let key = change.key, key.slice == slice || card.subscriber == nil {
                transaction.changes.append(.replace(key, card))
                if card.id.rawValue != id { transaction.renamed.append((id, key)) }
                continue
            }
            if let key = change.key {
                transaction.changes.append(.remove(key))
                transaction.removed.append((id, key))
            }
            transaction.changes.append(.insert(card))
            transaction.added.append((card.id.rawValue, CardKey(slice: slice, serial: serial)))
            serial += 1
        }
        return transaction
    }

    private func commit(_ transaction: Transaction, _ store: any PeopleStore) throws(LogError) {
        guard !transaction.changes.isEmpty else { return }
        try store.apply(transaction.changes, upTo: store.position + 1)
        for (id, key) in transaction.removed {
            index.remove(id, at: key)
            renamed[id] = nil
        }
        for (id, key) in transaction.renamed {
            index.remove(id, at: key)
            renamed[id] = key
        }
        for (id, key) in transaction.added { index.insert(id, at: key) }
    }
}

extension PeopleEntry {
    /// Bits of the activity's id.
    fileprivate var id: UInt64 {
        switch self {
        case .follow(let card), .start(let card): card.id.rawValue
        case .move(let id, _, _), .replaceToken(let id, _, _, _), .setPreferences(let id, _), .unfollow(let id):
            id.rawValue
        case .removed(let id, _): id
        }
    }
}

extension Card {
    /// Id of the card's activity.
    package var id: ActivityID { activity.map { ActivityID($0) } ?? ActivityID(token.keyedHash) }

    /// Returns the card with the engine's first app if its row has none: the engine has loaded the card into that app.
    fileprivate func belonging(to firstApp: AppID?) -> Card {
        var card = self
        card.app = app ?? firstApp
        return card
    }

    /// Returns the card after a follow; `known` is its former row.
    fileprivate func following(_ known: Card) -> Card {
        var card = self
        card.preferences = preferences ?? known.preferences
        // The follow names no app if its engine pushes to none.
        card.app = app ?? known.app
        // Another token after an unfollow means another card (`Follows`), as it does while the known card is being ended for its age.
        let isOver = known.phase == .leaving || startedAt - known.startedAt >= Card.ageMax
        // A start may have waited for hours: its request says nothing of the card's age.
        if known.phase != .starting, !isOver || known.token == token { card.startedAt = known.startedAt }
        // A card with another token may be another one, the start's content may be older than a later version, and another app's followers have their
        // own app's pushes.
        if known.phase == .shown, known.token == token, known.audience == audience, known.app == card.app {
            card.joinedAt = known.joinedAt
        }
        card.generation = known.generation &+ (known.token == token ? 0 : 1)
        return card
    }

    /// Returns the card after another request to start it. Claims use the number of the first request, and patience uses its time, because the first
    /// request may have left.
    fileprivate func starting(_ known: Card) -> Card {
        var card = following(known)
        if let number = known.request?.number { card.request = request?.numbered(number) }
        card.joinedAt = known.joinedAt ?? joinedAt
        return card
    }

    fileprivate mutating func take(_ entry: PeopleEntry) {
        switch entry {
        case .move(_, let audience, let joinedAt):
            guard phase != .leaving, self.audience != audience else { return }
            self.audience = audience
            // A starting card keeps the time of its first request.
            if phase != .starting { self.joinedAt = joinedAt }
        case .replaceToken(_, let new, let shownAt, let takenAt):
            if token != new { generation &+= 1 }
            token = new
            guard phase == .starting else { return }
            // The card shows its start's content, and no later version. It is as old as the departure of its start, which may have waited for hours;
            // its app reports the token soon after that.
            (phase, joinedAt, request) = (.shown, takenAt, nil)
            startedAt = shownAt ?? startedAt
        case .setPreferences(_, let preferences): self.preferences = preferences
        case .unfollow: phase = .leaving
        case .follow, .start, .removed: break
        }
    }
}
