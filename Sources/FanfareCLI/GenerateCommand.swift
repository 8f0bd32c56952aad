import FanfareFeeds
import FanfareModel

/// `fanfare generate`: writes feeds and subscriber files that need no recording.
struct GenerateCommand {
    private enum Subject {
        case feed(GeneratedFeed)
        case subscribers
    }

    private let subject: Subject
    private var count = 1_000_000
    /// Topics of `match-day`, which are the same for every seed.
    private var topics = (1001...1010).map { "match/\($0)" }
    private var seed: UInt64 = 1
    private var output = "-"

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        let subjects = GeneratedFeed.allCases.map(\.rawValue).joined(separator: ", ") + ", subscribers"
        var subject: Subject?
        var subscribersOption: String?
        while let word = try arguments.next() {
            switch word {
            case .option("--seed"): seed = try arguments.value("a whole number from 0") { UInt64($0) }
            case .option("--count"):
                count = try arguments.count(1...100_000_000)
                subscribersOption = "--count"
            case .option("--topics"):
                topics = try arguments.value("topics as subscriber files have them, with commas between", Self.topics)
                subscribersOption = "--topics"
            case .option("--output"): output = try arguments.text("a file, or - for standard output")
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare generate --help` lists them")
            case .operand(let name):
                let named = name == "subscribers" ? .subscribers : GeneratedFeed(rawValue: name).map(Subject.feed)
                guard subject == nil, let named else {
                    throw UsageError("\(name): expected one thing to make: \(subjects)")
                }
                subject = named
            }
        }
        guard let subject else { throw UsageError("the thing to make is missing: \(subjects)") }
        if case .feed = subject, let subscribersOption {
            throw UsageError("\(subscribersOption): only means something with subscribers")
        }
        guard !topics.isEmpty else { throw UsageError("--topics: there is none") }
        self.subject = subject
    }

    private static func topics(_ text: String) -> [String]? {
        let topics = text.split(separator: ",").map(String.init)
        return topics.allSatisfy(SubscriberFile.takes(topic:)) ? topics : nil
    }

    func run() throws -> ExitStatus {
        let file = try OutputFile(path: output, option: "--output")
        switch subject {
        case .feed(let feed): feed.write(seed: seed) { file.write($0) }
        case .subscribers:
            try SubscriberFile.generate(count, following: topics.map { TopicID($0) }, seed: seed) {
                file.write($0)
                // A reader that has gone wants no more.
                if file.failure != nil { throw OutputError(file) }
            }
        }
        guard file.flush() else { throw OutputError(file) }
        return .done
    }

    static let help = """
        Makes a feed to replay, or subscribers to replay it to. The same seed gives the same bytes.

        usage: fanfare generate FEED [--seed N] [--output FILE]
               fanfare generate subscribers [--count N] [--topics T,…] [--seed N] [--output FILE]

          match-day       ten football matches at once, in the native format: about 17 events per match and minute, under
                          one per cent of them visible; two goals in one second, a goal cancelled after a video review, a
                          second yellow card, a shoot-out, late and doubled entries
          delivery        twenty orders from the kitchen to the door: places on a map, estimates that waver, cancellations
          orders          a thousand such orders in two hours
          ride            twenty rides, from the search for a driver to the fare
          queue           one restaurant's queue of forty parties, some of which give up
          subscribers     a file for replay --subscribers: one subscriber a line, each with a token, some with preferences
          --count N       number of subscribers (1000000)
          --topics T,…    topics that the subscribers follow in turn (match/1001 to match/1010, those of match-day)
          --seed N        seed; each makes another day (1)
          --output FILE   writes to this file instead of standard output

        examples:
          fanfare generate match-day --seed 7 --output day.ndjson
          fanfare generate subscribers --count 10000000 --output people.txt

        """
}
