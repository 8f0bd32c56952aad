import Foundation

// Plays a season in virtual time and prints its figures, and any growth of its state and of its store.

let usage = """
    usage: fanfare-season [--days N] [--topics N] [--seed N] [--leak BYTES]
                          [--store FOLDER [--leak-entries N] [--leak-rows N] [--leak-claims N]]

      --days N          how many (default 30); what lives after the last one is compared with what lived after the third
      --topics N        that come and go each day (default 100000)
      --seed N          of the days' plan (default 1)
      --leak BYTES      lost with each topic: a season that does not find it is worth nothing
      --store FOLDER    a new folder for a store, whose files must not grow after the third day
      --leak-entries N  of each day that the store does not trim
      --leak-rows N     of each day's cards that the store does not remove
      --leak-claims N   of each day that do not expire: the store removes no claim behind them

    Exit status: 0 nothing has grown and everything held; 1 something else, named on standard output; 2 usage.
    """

func refuse(_ problem: String) -> Never {
    FileHandle.standardError.write(Data("fanfare-season: \(problem)\n\(usage)\n".utf8))
    exit(2)
}

/// Writes the line at once, even into a pipe, because a season takes minutes.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

var options = SeasonOptions()
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    if option == "--help" || option == "-h" {
        print(usage)
        exit(0)
    }
    if option == "--store" {
        guard let folder = arguments.popFirst() else { refuse("--store needs a folder") }
        options.store = folder
        continue
    }
    guard ["--days", "--topics", "--seed", "--leak", "--leak-entries", "--leak-rows", "--leak-claims"].contains(option)
    else {
        refuse("unknown option \(option)")
    }
    let most = option == "--days" ? 1000 : 10_000_000
    guard let value = arguments.popFirst().flatMap({ Int($0) }), (0...most).contains(value) else {
        refuse("\(option) needs a number up to \(most)")
    }
    switch option {
    case "--days": options.days = value
    case "--topics": options.topicsPerDay = value
    case "--seed": options.seed = UInt64(value)
    case "--leak-entries": options.storeLeaks.entries = value
    case "--leak-rows": options.storeLeaks.rows = value
    case "--leak-claims": options.storeLeaks.claims = value
    default: options.leak = value
    }
}
// The third day is compared with the last one, so at least four are needed.
if options.days < 4 { refuse("--days is at least 4") }
if options.topicsPerDay < 1 { refuse("--topics is at least 1") }
if options.store == nil, options.storeLeaks.entries + options.storeLeaks.rows + options.storeLeaks.claims > 0 {
    refuse("a store's leak needs --store")
}

func row(_ cells: [String]) -> String {
    cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }.joined()
}

let clock = ContinuousClock()
let started = clock.now
var lap = started
var before = (events: 0, pushes: 0, alerts: 0)
say(
    "seed \(options.seed), \(options.topicsPerDay) topics a day; what lives is counted at six in the morning after each day"
)
let storeColumns = options.store == nil ? [] : ["entries", "rows", "claims", "file bytes", "checkpoints"]
say(row(["day", "events", "pushes", "alerts", "topics", "activities", "bytes", "seconds"] + storeColumns))
let season = Season(options)
let violation = season.run { day, morning in
    let (events, pushes, alerts) = (season.counts.events, season.phones.pushes, season.phones.alerts.heard)
    let seconds = Double((clock.now - lap) / .milliseconds(100)) / 10
    let figures = [
        day, events - before.events, pushes - before.pushes, alerts - before.alerts, morning.tables.topics,
        morning.tables.activities, morning.bytes,
    ]
    var cells = figures.map(String.init)
    cells.append("\((seconds * 10).rounded() / 10)")
    if let store = morning.store {
        cells += [store.entries, store.rows, store.claims, store.fileBytes, store.checkpointBytes].map(String.init)
    }
    say(row(cells))
    before = (events, pushes, alerts)
    lap = clock.now
}
let (phones, alerts) = (season.phones, season.phones.alerts)
say(
    """
    \(season.mornings.days.count) days, \(season.mornings.days.count * options.topicsPerDay) topics, \(season.counts.events) events, \
    \((clock.now - started).components.seconds) s
    \(phones.pushes) pushes, \(phones.unprocessed) of them not accepted; \(season.counts.follows) follows, \(season.counts.unfollows) unfollows, \
    \(phones.renewals) renewals, \(phones.expiries) cards ended for their age
    \(alerts.heard) alerts heard, each once; \(alerts.silenced) silenced by night; by troubles \(alerts.overtaken) overtaken, \
    \(alerts.uncertain) uncertain; \(alerts.dropped) whose card or fact went before
    """)
if options.store != nil { for line in season.mornings.store.summaries { say(line) } }
if let violation {
    say("violated: \(violation)")
    exit(1)
}
say("nothing has grown")
