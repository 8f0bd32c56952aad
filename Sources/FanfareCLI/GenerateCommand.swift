import FanfareFeeds

/// `fanfare generate`: feeds that need no recording.
struct GenerateCommand {
    private let feed: GeneratedFeed
    private var seed: UInt64 = 1
    private var output = "-"

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        let feeds = GeneratedFeed.allCases.map(\.rawValue).joined(separator: ", ")
        var feed: GeneratedFeed?
        while let word = try arguments.next() {
            switch word {
            case .option("--seed"): seed = try arguments.value("a whole number from 0") { UInt64($0) }
            case .option("--output"): output = try arguments.text("a file, or - for standard output")
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare generate --help` lists them")
            case .operand(let name):
                guard feed == nil, let known = GeneratedFeed(rawValue: name) else {
                    throw UsageError("\(name): expected one feed to make: \(feeds)")
                }
                feed = known
            }
        }
        guard let feed else { throw UsageError("the feed to make is missing: \(feeds)") }
        self.feed = feed
    }

    func run() throws(UsageError) -> ExitStatus {
        let file = try OutputFile(path: output, option: "--output")
        feed.write(seed: seed) { file.write($0) }
        file.flush()
        guard let failure = file.failure else { return .done }
        Console.complain("fanfare generate: \(failure)")
        return .incomplete
    }

    static let help = """
        Makes a feed to replay. The same seed gives the same bytes.

        usage: fanfare generate FEED [--seed N] [--output FILE]

          match-day       ten football matches at once, in the native format: about 17 events per match and minute, under
                          one per cent of them visible; two goals in one second, a goal cancelled after a video review, a
                          second yellow card, a shoot-out, late and doubled entries
          delivery        twenty orders from the kitchen to the door: places on a map, estimates that waver, cancellations
          orders          the same, a thousand in two hours
          ride            twenty rides, from the search for a driver to the fare
          queue           one restaurant's queue of forty parties, some of which give up
          --seed N        another day for every N (1)
          --output FILE   instead of standard output

        example:
          fanfare generate match-day --seed 7 --output day.ndjson

        """
}
