extension ReplayCommand {
    static let help = """
        Plays a feed, decides which changes are worth showing, and pushes each update to subscribers, synthetic or real. The summary
        at the end counts events, updates and pushes, and names the reasons for events without an update.

        usage: fanfare replay FEED… [options]

          FEED                 files and folders are one feed, merged by time; - reads standard input, live: the engine decides
                               each event when it arrives, whatever its time, and --speed, --max-gap and --from have no effect

        reading
          --format F           native, wyscout, dfl, pwhl, dvw or gtfs-rt; without it, recognised by content
          --kickoff T          start of the first half, for match files without metadata
          --speed N|max        N seconds of the feed in one second; max waits for nothing (max)
          --max-gap S          limits each wait to S seconds of the feed (30)
          --from T             plays the events before T at full speed
          --until T            stops before the first event after T
                               T is a time such as 2026-06-13T14:00:00Z, or Unix seconds

          --store FOLDER       keeps the input of all decisions in this folder, made if it is missing: the next run after a kill
                               continues where this one stopped. It decides the input of earlier runs again, silently, and
                               every activity gets the newest state of its topics; needs the same feed and the same rules
          --rules FILE         rules for the decisions, instead of the built-in ones; `fanfare rules --help` says more

        pushing
          --subscribers FILE   loads subscribers: a line has a topic (or several with commas between, for a lineup), an update
                               token in hex, and perhaps activity=ID, subscriber=ID, alerts=all|essential|none,
                               quiet=22:00-07:00+02:00[/none|/all], frequent, app=BUNDLE[/development],
                               started=T; # is a comment
          --subscribers N      makes N subscribers: subscriber i follows topic i mod T of the feed's T topics (0); of a live
                               feed, whose topics are not known beforehand, all N follow each topic as it appears
          --lineups N|N-M      every subscriber has one activity that shows N, or from N to M topics, some topics
                               far more popular than others; not live
          --favourites         the first topic of each lineup has the spotlight whenever nothing happens elsewhere
          --seed N             seed of the subscribers' tokens and lineups (1)
          --shards N           shards, each a thread that pushes (1)
          --pin                keeps each shard on a processor of its own, if there are enough
          --transport discard            takes every push and sends nothing (this is the default)
          --transport fault:SEED         a bad network: late, reordered, refused and missing answers, dead tokens
          --transport apns://HOST:PORT   HTTP/2 over TLS; needs the next three
          --key FILE.p8 --team-id T --bundle-id BUNDLE[/development]
                               the key may be a link; the engine adopts a replaced key within seconds
          --key-id K           id of the key; without it, taken from the name AuthKey_K.p8
          --app BUNDLE[/development]=apns://HOST:PORT
                               another app, or the other environment of the same app, by the same key; may be repeated
          --ca FILE            trusts this authority (PEM) instead of the system's
          --reach S            time from a goal to the last activity of the largest audience (2): the engine opens the connections
                               for it in advance, allowing for the distance to APNs
          --connections-max N  limit on an app's connections, over all shards (64)
          --connections N      exactly N connections per shard
          --patience S|never   gives up after S seconds without an accepted push, but only once the feed is over (120)

        telling
          --decisions FILE     one line of JSON per event and timer, with its outcome and the reason; - is standard output
          --states FILE        one line of JSON per topic with its final state; - is standard output
          --preview A,B,C      display of a phone that follows these topics in one activity, after each change
          --what-if            also the cost of a push for every event, and the savings
          --json               the summary as one JSON object; `schema` counts up when a member changes its meaning. Its
                               freshness has, per topic kind (and lineup, for all of them), stateAge at send, sweep and
                               laneDelay (alerts, immediate, conserving), each with count, p50, p99, p999 and max in
                               seconds, at most 1/32 too high; docs/command-line.md has all members

        Progress and errors go to standard error. Ctrl-C and SIGTERM end the replay with the summary so far; SIGHUP does so if
        standard input is a terminal, and has no effect otherwise. A live feed does not wait for the reader of its decision log: the
        replay leaves out lines that do not fit, and counts them. A recorded feed waits, so that its log is whole.
        Exit status: 0 all delivered and nothing rejected; 1 something was rejected or not delivered; 2 usage.

        examples:
          fanfare replay day.ndjson
          fanfare replay matches/ --speed 60 --subscribers 100000 --json
          tail -f live.ndjson | fanfare replay - --decisions -
          fanfare replay day.ndjson --speed 60 --subscribers 1000000 --transport apns://127.0.0.1:8443 \\
              --ca ca.pem --key apns.p8 --key-id ABC123DEFG --team-id DEF123GHIJ --bundle-id com.example.scores

        """
}
