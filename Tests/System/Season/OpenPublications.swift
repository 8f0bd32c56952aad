/// Judge of completions: a shard reports each publication complete, or overtaken, once.
struct OpenPublications {
    private var serials: Set<UInt64> = []

    mutating func published(_ serial: UInt64) { serials.insert(serial) }

    /// - Returns: the fault of the report; `nil` if it is right.
    mutating func completed(_ serial: UInt64) -> String? {
        serials.remove(serial) == nil ? "publication \(serial) was reported complete twice" : nil
    }

    /// Checks what must hold once everything has settled.
    func violation() -> String? {
        guard let first = serials.min() else { return nil }
        return "\(serials.count) publications were never complete, \(first) the first of them"
    }
}
