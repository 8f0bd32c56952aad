extension ReplayCommand {
    static let help = """
        Plays a feed, decides what is worth showing, and pushes each update to subscribers, synthetic or real. Ends with a summary:
        what came in, what went out, what did not and why.

        usage: fanfare replay FEED… [options]

          FEED                 files and folders are one feed, merged by time; - reads standard input, live: what comes is
                               decided when it comes, whatever time it says, and --speed, --max-gap and --from mean nothing

        reading
          --format F           native, wyscout, dfl, pwhl, dvw or gtfs-rt; without it, recognised by content
          --kickoff T          when the first half began, for match files without metadata
          --speed N|max        N seconds of the feed in one second; max waits for nothing (max)
          --max-gap S          no wait is longer than S seconds of the feed (30)
          --from T             what happened before is caught up with at full speed
          --until T            stops before the first event after T
                               T is a time such as 2026-06-13T14:00:00Z, or Unix seconds

          --store FOLDER       keeps what is decided in this folder, made if it is missing: a replay that was killed and is run
                               again goes on where it stopped. What earlier runs took is decided again, silently, and
                               everybody gets what their topics show then; needs the same feed and the same rules
          --rules FILE         what to make of it, instead of the built-in rules; `fanfare rules --help` says more

        pushing
          --subscribers FILE   loads them: a line has a topic (or several with commas between, for a lineup), an update
                               token in hex, and perhaps activity=ID, subscriber=ID, alerts=all|essential|none,
                               quiet=22:00-07:00+02:00[/none|/all], frequent, app=BUNDLE[/development],
                               started=T; # is a comment
          --subscribers N      made up: subscriber i follows topic i mod T of the feed's T topics (0); live, where nobody
                               knows them beforehand, all N follow each topic as it appears
          --lineups N|N-M      every subscriber has one activity that shows N, or from N to M topics, some topics
                               far more popular than others; not live
          --favourites         the first topic of each lineup has the spotlight whenever nothing happens elsewhere
          --seed N             of the subscribers' tokens and lineups (1)
          --shards N           worker threads that push (1)
          --pin                each of them stays on a processor of its own, as far as there are enough
          --transport discard            takes every push and sends nothing (this is the default)
          --transport fault:SEED         a bad network: late, reordered, refused and missing answers, dead tokens
          --transport apns://HOST:PORT   HTTP/2 over TLS; needs the next three
          --key FILE.p8 --team-id T --bundle-id BUNDLE[/development]
                               the key may be a link; when it changes, the new one takes over within seconds
          --key-id K           of the key; taken from AuthKey_K.p8 when left out
          --app BUNDLE[/development]=apns://HOST:PORT
                               another app, or the same one's other environment, by the same key; again for more
          --ca FILE            trust this authority (PEM) instead of the system's
          --reach S            from a goal to the last activity of the largest audience (2): as many connections are
                               opened, before it comes, as that takes at the distance of APNs
          --connections-max N  of an app, over all shards (64)
          --connections N      exactly so many per shard instead
          --patience S|never   once the feed is over, give up after so many seconds in which nothing was accepted (120);
                               before that it never gives up

        telling
          --decisions FILE     one line of JSON per event and timer, with what became of it and why; - is standard output
          --states FILE        one line of JSON per topic with its final state; - is standard output
          --preview A,B,C      what the phone shows of somebody who follows these topics in one activity, whenever it changes
          --what-if            also what a push for every event would have cost, and what was saved
          --json               the summary as one JSON object; `schema` counts up when a member changes its meaning. Its
                               freshness has, per topic kind (and lineup, for all of them), stateAge at send, sweep and
                               laneDelay (alerts, immediate, conserving), each with count, p50, p99, p999 and max in
                               seconds, at most 1/32 too high; docs/command-line.md has all members

        Progress and errors go to standard error. Ctrl-C and SIGTERM end the replay with the summary so far; SIGHUP does where
        standard input is a terminal, and nothing elsewhere. Nobody's reading is waited for: of a live feed's decision log lines
        are left out, and counted, while nobody reads it; a recorded feed waits instead, so that its log is whole.
        Exit status: 0 all delivered and nothing rejected; 1 something was rejected or not delivered; 2 usage.

        examples:
          fanfare replay day.ndjson
          fanfare replay matches/ --speed 60 --subscribers 100000 --json
          tail -f live.ndjson | fanfare replay - --decisions -
          fanfare replay day.ndjson --speed 60 --subscribers 1000000 --transport apns://127.0.0.1:8443 \\
              --ca ca.pem --key apns.p8 --key-id ABC123DEFG --team-id DEF123GHIJ --bundle-id com.example.scores

        """
}
