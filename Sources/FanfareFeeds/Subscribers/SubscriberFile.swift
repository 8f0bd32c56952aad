package import FanfareModel
import Synchronization

/// A file of subscribers, one per line, which an engine loads at its start:
///
///     # topic, update token in hex, and what else there is to say
///     match/1001 80f29c…
///     match/1001,match/1002 91ab07… activity=anna-card subscriber=anna alerts=essential quiet=22:00-07:00+02:00
///     order/17 77d0e1… frequent app=com.example.beta/development started=2026-06-13T14:00:00Z
///     match/1001,match/1002 b04f27… favourite=match/1002
///
/// Blanks separate words; several topics separated by commas are a lineup, and `favourite` is one of them. An activity without an id is named by its token.
/// `alerts`, `quiet` and `frequent` are `Preferences`, `app` is an `AppID`; `started` is the time at which the activity appeared on
/// the phone, by default just now. The system ends it eight hours later.
///
/// Read in chunks, so that memory does not grow with the file; a line that cannot be read is reported and skipped.
package final class SubscriberFile: Sendable {
    package struct Progress: Sendable, Equatable {
        package var subscribers = 0
        /// Size of what has been read, and of the whole file as far as it is known.
        package var sizeRead = ByteCount.zero
        package var sizeExpected = ByteCount.zero
    }

    /// Maximum number of broken lines that are reported one by one; further ones are only counted.
    package static let faultsReportedMax = 10
    /// Greatest size of a line: the longest lineup with the longest ids, one of which is the favourite as well, the longest token, and other words.
    static let lineSizeMax =
        (TopicID.sizeMax + ByteCount.bytes(1)) * (AudienceKey.topicsMax + 1) + Subscription.tokenSizeMax * 2
        + wordsSizeMax
    /// Room of a line for blanks, names, preferences, app and date, none of which has a limit of its own.
    private static let wordsSizeMax = ByteCount.kibibytes(16)
    /// Number of lines between two reports of progress.
    private static let progressLines = 1 << 18

    /// Returns a file's first line without the byte order mark that some editors put before it.
    private static func withoutMark(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return unsafe line.starts(with: mark) ? UnsafeRawBufferPointer(rebasing: line.dropFirst(mark.count)) : line
    }

    /// Returns `true` if lines can name this topic. Lines begin with a topic or `#`, and blanks separate their words.
    package static func takes(topic: String) -> Bool {
        (1...TopicID.sizeMax.bytes).contains(topic.utf8.count) && topic.first != "#"
            && topic.utf8.allSatisfy { $0 > UInt8(ascii: " ") }
    }

    package let path: String
    private let report: @Sendable (String) -> Void
    private let progress: @Sendable (Progress) -> Void
    private let sizeExpected: ByteCount
    /// Estimate from the first lines, for reserving room.
    package let expectedCount: Int

    /// The open file and its inspected beginning, with which the first reading continues, because a pipe can be read only once.
    private let opened: Mutex<(file: ByteFile, head: [UInt8])?>

    // Counts of the last whole reading.
    private let countedSubscribers = Atomic(0)
    private let countedFaults = Atomic(0)
    private let readings = Atomic(0)

    /// Opens the file and inspects its first lines.
    ///
    /// - Parameters:
    ///   - report: receives each broken line as `path:line: what is wrong`, on the reading thread, in the first reading only.
    ///   - progress: called now and then, on the reading thread.
    package init(
        path: String, report: @escaping @Sendable (String) -> Void,
        progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) throws(FeedError) {
        self.path = path
        self.report = report
        self.progress = progress
        let file = try ByteFile(path: path)
        let head = try file.read(upTo: .kibibytes(64))
        opened = Mutex((file, head))
        sizeExpected = max(ByteFile.size(of: path) ?? .zero, .bytes(head.count))
        let lines = head.count { $0 == UInt8(ascii: "\n") }
        expectedCount = lines == 0 ? 1 : Int(Double(sizeExpected.bytes) * Double(lines) / Double(head.count)) + 1
    }

    /// Number of subscribers in the last whole reading.
    package var subscribers: Int { countedSubscribers.load(ordering: .relaxed) }
    package var brokenLines: Int { countedFaults.load(ordering: .relaxed) }

    /// Passes all subscribers to `take`, in the file's order. Each call reads the file again.
    ///
    /// - Parameter take: returns the fault of a subscription, if any.
    package func read(_ take: (Subscription) -> String?) throws(FeedError) {
        try readNamed { subscription, _ in take(subscription) }
    }

    /// Passes all subscribers to `take` as `read` does, with the names that their lines have. An error of `take` ends the reading.
    package func readNamed(
        _ take: (Subscription, SubscriberNames) throws(FeedError) -> String?
    ) throws(FeedError) {
        let tells = readings.add(1, ordering: .relaxed).newValue == 1
        let (file, first) = try open()
        var head = first
        var lines = LineSplitter(lineSizeMax: SubscriberFile.lineSizeMax)
        var line = SubscriberLine()
        var seen = Progress(sizeExpected: sizeExpected)
        var faults = 0

        func fault(_ text: String, _ number: Int) {
            faults += 1
            guard tells else { return }
            if faults <= SubscriberFile.faultsReportedMax { report("\(path):\(number): \(text)") }
            if faults == SubscriberFile.faultsReportedMax { report("\(path): further broken lines are counted only") }
        }
        func handle(_ cut: LineSplitter.Cut) throws(FeedError) {
            switch cut {
            case .overlong(let number): fault("longer than \(SubscriberFile.lineSizeMax)", number)
            case .line(let range, let number):
                let result: Result<Subscription?, SubscriberLine.Fault> = unsafe lines.withBytes(of: range) { bytes in
                    let bytes = unsafe number == 1 ? SubscriberFile.withoutMark(bytes) : bytes
                    do throws(SubscriberLine.Fault) { return unsafe .success(try line.read(bytes)) } catch {
                        return .failure(error)
                    }
                }
                switch result {
                case .success(nil): break
                case .success(let subscription?):
                    if let text = try take(subscription, line.names) { return fault(text, number) }
                    seen.subscribers += 1
                    if seen.subscribers % SubscriberFile.progressLines == 0 { progress(seen) }
                case .failure(let error): fault(error.text, number)
                }
            }
        }
        while true {
            let count = try unsafe lines.fill { (space) throws(FeedError) in
                guard !head.isEmpty else { return try unsafe file.read(into: space) }
                let count = min(space.count, head.count)
                unsafe space.copyBytes(from: head.prefix(count))
                head = head.dropFirst(count)
                return count
            }
            if count == 0 { break }
            seen.sizeRead += .bytes(count)
            while let cut = lines.next() { try handle(cut) }
        }
        if let last = lines.finish() { try handle(last) }
        progress(seen)
        countedSubscribers.store(seen.subscribers, ordering: .relaxed)
        countedFaults.store(faults, ordering: .relaxed)
    }

    /// Returns the file, and what has been read of it.
    private func open() throws(FeedError) -> (file: ByteFile, head: ArraySlice<UInt8>) {
        if let opened = opened.withLock({ $0.take() }) { return (opened.file, opened.head[...]) }
        guard ByteFile.isRegular(path) else {
            throw FeedError(path: path, reason: "has been read, and can be read only once; write it to a file first")
        }
        return (try ByteFile(path: path), [])
    }

    /// Generates synthetic subscribers in this format, a fifth of them with preferences. Equal seeds give equal bytes.
    ///
    /// - Parameter sink: receives chunks of whole lines.
    package static func generate<Failure: Error>(
        _ count: Int, following topics: [TopicID], seed: UInt64, to sink: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        guard !topics.isEmpty else { return }
        let names = topics.map { Array($0.rawValue.utf8) }
        let digits = Array("0123456789abcdef".utf8)
        var random = SplitMix64(seed: seed)
        var chunk: [UInt8] = []
        for number in 0..<count {
            chunk += names[number % names.count]
            chunk.append(UInt8(ascii: " "))
            // Nine of ten tokens have 80 bytes, the others 54; both lengths have been observed (spec §1).
            for _ in 0..<(random.chance(0.1) ? 54 : 80) / 2 {
                var bits = random.next()
                for _ in 0..<4 {
                    chunk.append(digits[Int(bits & 15)])
                    bits >>= 4
                }
            }
            switch random.next() % 20 {
            case 0: chunk += " alerts=essential".utf8
            case 1: chunk += " quiet=22:00-07:00+02:00".utf8
            case 2: chunk += " alerts=none".utf8
            case 3: chunk += " frequent".utf8
            default: break
            }
            chunk.append(UInt8(ascii: "\n"))
            if chunk.count >= 1 << 16 {
                try sink(chunk)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        if !chunk.isEmpty { try sink(chunk) }
    }
}
