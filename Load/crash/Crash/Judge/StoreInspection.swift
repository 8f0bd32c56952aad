/// Judge of an operator's inspection of a store that no program uses: the outputs of `fanfare people` and `fanfare log` must agree with each other, with
/// what `prune` and `trim` say that they have removed, and with the cards that are certainly there. The judge of the next lives
/// sees the changes that the inspection has made to the store.
package struct StoreInspection {
    /// Commands of an inspection, in their order.
    package enum Step: CaseIterable, Sendable {
        case countCards, checkCards, prune, checkPruned, checkLog, trim, checkTrimmed

        var words: [String] {
            switch self {
            case .countCards: ["people", "stats"]
            case .checkCards, .checkPruned: ["people", "check"]
            case .prune: ["people", "prune"]
            case .checkLog, .checkTrimmed: ["log", "check"]
            case .trim: ["log", "trim"]
            }
        }
    }

    package struct Output: Sendable {
        package let status: Int32
        package let text: String
        package let errors: String

        package init(status: Int32 = 0, text: String = "", errors: String = "") {
            (self.status, self.text, self.errors) = (status, text, errors)
        }
    }

    /// Bounds of the number of cards, and its value by `stats` and by `check`, before and after `prune`.
    private let bounds: ClosedRange<Int>
    private var counted: Int?
    private var cards: Int?
    /// Number of entries, and the checkpoints, by `log check`, before and after `trim`; the checkpoint that `trim` names.
    private var entries: Int?
    private var checkpoints: [Int] = []
    private var kept: Int?
    package private(set) var complaints: [String] = []

    package init(expecting bounds: ClosedRange<Int>) { self.bounds = bounds }

    package mutating func take(_ output: Output, of step: Step) {
        // A store whose program was killed early has no checkpoint yet.
        if step == .trim, output.errors.contains("has no checkpoint yet") {
            if !checkpoints.isEmpty {
                complain(
                    step, "finds no checkpoint, and `fanfare log check` has found \(StoreInspection.text(checkpoints))")
            }
            return
        }
        guard output.status == 0 else {
            return complain(
                step, "ends with \(output.status): \((output.errors + output.text).replacing("\n", with: " "))")
        }
        let words = output.text.split { $0 == " " || $0 == "\n" }
        guard words.count > 1, let number = StoreInspection.number(words[1]) else {
            return complain(step, "says no number: \(output.text.replacing("\n", with: " "))")
        }
        switch step {
        case .countCards: counted = number
        case .checkCards: takeCards(number)
        case .prune: takePruned(number, words)
        case .checkPruned: takeRest(number)
        case .checkLog: (entries, checkpoints) = (number, StoreInspection.checkpoints(in: output.text))
        case .trim: takeTrimmed(number, words)
        case .checkTrimmed: takeTrimmedLog(number, StoreInspection.checkpoints(in: output.text))
        }
    }

    private mutating func complain(_ step: Step, _ text: String) {
        complaints.append("`fanfare \(step.words.joined(separator: " "))` \(text)")
    }

    // MARK: People

    private mutating func takeCards(_ number: Int) {
        cards = number
        if let counted, counted != number {
            complain(.checkCards, "finds \(number) cards, and `fanfare people stats` has counted \(counted)")
        }
        if number < bounds.lowerBound {
            complain(.checkCards, "finds \(number) cards, and \(bounds.lowerBound) are acknowledged and not over")
        }
    }

    private mutating func takePruned(_ number: Int, _ words: [Substring]) {
        // removed 2 cards: 0 that began before TIME, 2 that a later one replaces
        guard words.count > 8, let old = StoreInspection.number(words[3]),
            let replaced = StoreInspection.number(words[8])
        else {
            return complain(.prune, "does not say what it has removed: \(words.joined(separator: " "))")
        }
        if old > 0 { complain(.prune, "removes \(old) cards for their age, and none is older than the run") }
        if number != old + replaced {
            complain(.prune, "has removed \(number) cards, and \(old) and \(replaced) for its two reasons")
        }
        cards = cards.map { $0 - number }
    }

    private mutating func takeRest(_ number: Int) {
        if let cards, number != cards {
            complain(.checkPruned, "finds \(number) cards after `fanfare people prune`, which has left \(cards)")
        }
        if !bounds.contains(number) {
            complain(
                .checkPruned,
                "finds \(number) cards after `fanfare people prune`, and from \(bounds.lowerBound) to \(bounds.upperBound) may be there"
            )
        }
    }

    // MARK: The log

    private mutating func takeTrimmed(_ number: Int, _ words: [Substring]) {
        kept = words.last.flatMap { StoreInspection.number($0) }
        entries = entries.map { $0 - number }
        if let kept, checkpoints.contains(kept) { return }
        complain(
            .trim,
            "keeps the checkpoint of entry \(kept.map { "\($0)" } ?? "?"), and `fanfare log check` has found \(StoreInspection.text(checkpoints))"
        )
    }

    private mutating func takeTrimmedLog(_ number: Int, _ found: [Int]) {
        if let entries, number != entries {
            complain(.checkTrimmed, "finds \(number) entries after `fanfare log trim`, which has left \(entries)")
        }
        if let kept, !found.contains(kept) {
            complain(
                .checkTrimmed,
                "finds the checkpoints \(StoreInspection.text(found)) after `fanfare log trim`, which has kept \(kept)")
        }
    }

    // MARK: Texts

    /// Returns a number as commands write it, with commas and punctuation: `1,234;`.
    private static func number(_ word: Substring) -> Int? {
        word.first?.isNumber == true ? Int(word.filter(\.isNumber)) : nil
    }

    /// Returns the entries of the checkpoints that `fanfare log check` names.
    private static func checkpoints(in text: String) -> [Int] {
        guard let name = text.firstRange(of: "checkpoint of entry ") else { return [] }
        let list = text[name.upperBound...].prefix { $0 != ";" && $0 != "\n" }
        return list.split(separator: " ").compactMap { number($0) }
    }

    private static func text(_ checkpoints: [Int]) -> String {
        checkpoints.isEmpty ? "none" : checkpoints.map { "\($0)" }.joined(separator: " and ")
    }
}
