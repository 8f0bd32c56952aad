// swift-tools-version: 6.2
import PackageDescription

/// Load tools and their tests need nghttp2's headers, and are part of the package only if the Makefile sets the variable: a plain
/// `swift build`, or a program that embeds Fanfare, needs no such headers. Warnings are errors only then, so that a warning of a
/// newer compiler does not stop a program that embeds Fanfare.
let development = Context.environment["FANFARE_DEV"] != nil
/// `FANFARE_DEV=threads`: the tests of threaded code, with all that they need. A sanitizer's build of everything takes twice as long.
let sanitizing = Context.environment["FANFARE_DEV"] == "threads"
/// `make fuzz`: the fuzzer links only with libFuzzer, which brings `main`.
let fuzzing = Context.environment["FANFARE_FUZZ"] != nil
/// Micro-benchmarks beside their peers, in one process: Benchmarks/README.md.
let benchmarks = Context.environment["FANFARE_BENCH"] != nil

let strictness: [SwiftSetting] = development ? [.treatAllWarnings(as: .error)] : []
let language: [SwiftSetting] =
    strictness + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

/// Shipped code that touches memory by pointer says `unsafe`; `scripts/borders` lists the modules that may import C.
let swift = language + [.strictMemorySafety()]

/// In a release build the sources are optimised and the tests are not: it would take most of the time, for code that runs for a moment.
let swiftOfTests = language + (development ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : [])

/// Each library's Debian packages: docs/install.md. Of the libraries only `FanfareFeeds` needs protobuf-c.
var products: [Product] = [
    .library(name: "Fanfare", targets: ["Fanfare"]),
    .library(name: "FanfareRules", targets: ["FanfareRules"]),
    .library(name: "FanfareFeeds", targets: ["FanfareFeeds"]),
    .library(name: "FanfareLineup", targets: ["FanfareLineup"]),
    .executable(name: "fanfare", targets: ["FanfareCLI"]),
]

/// Dependencies of a target that connects decisions and fan-out: both stages, their model and their queues, and the others given.
func stages(_ others: String...) -> [Target.Dependency] {
    (["FanfareModel", "FanfareQueues", "FanfareDecisions", "FanfareFanOut"] + others).map { .byName(name: $0) }
}

var targets: [Target] = [
    // System libraries, one module each, and the smallest shims.
    .systemLibrary(name: "CFanfareUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CFanfareOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CFanfareLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CFanfareZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CFanfareHarfBuzz", pkgConfig: "harfbuzz-subset", providers: [.apt(["libharfbuzz-dev"])]),
    .systemLibrary(name: "CFanfareThreads"),

    // Settings of the process that must hold before the program's first line.
    .target(name: "CFanfareStart", dependencies: ["CFanfareOpenSSL"]),

    // The engine, in the order data flows through it. Values that one stage hands to the next are the model's; decisions and
    // fan-out know nothing of each other.
    .target(name: "FanfareModel", swiftSettings: swift),
    // Threads that may block, and what they share: for libraries that need no loop, too.
    .target(name: "FanfareThreads", dependencies: ["CFanfareThreads"], swiftSettings: swift),
    // Between threads, in order of time, and by size: containers that know nothing of what they hold.
    .target(name: "FanfareQueues", dependencies: ["FanfareModel"], swiftSettings: swift),
    .target(name: "CFanfareSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(
        name: "CFanfareGTFS", exclude: ["gtfs-realtime.proto"], linkerSettings: [.linkedLibrary("protobuf-c")]),
    .target(name: "FanfareJSON", dependencies: ["FanfareModel", "CFanfareSimdjson"], swiftSettings: swift),
    .target(
        name: "FanfareFeeds",
        dependencies: ["FanfareModel", "FanfareQueues", "FanfareThreads", "FanfareJSON", "CFanfareGTFS"],
        swiftSettings: swift),
    .target(
        name: "FanfareDecisions", dependencies: ["FanfareModel", "FanfareQueues"], swiftSettings: swift,
        linkerSettings: [.linkedLibrary("m")]),
    // toml++ is header-only.
    .target(name: "CFanfareTOML"),
    .target(name: "FanfareTOML", dependencies: ["FanfareModel", "CFanfareTOML"], swiftSettings: swift),
    .target(
        name: "FanfareRules", dependencies: ["FanfareModel", "FanfareThreads", "FanfareDecisions", "FanfareTOML"],
        swiftSettings: swift),
    .target(
        name: "FanfareFanOut", dependencies: ["FanfareModel", "FanfareQueues"], swiftSettings: swift,
        linkerSettings: [.linkedLibrary("m")]),
    .target(name: "FanfareHTTP2", swiftSettings: swift),
    .target(
        name: "FanfareLoop", dependencies: ["FanfareThreads", "CFanfareUV", "CFanfareOpenSSL", "CFanfareStart"],
        swiftSettings: swift),
    .target(
        name: "FanfareAPNs", dependencies: ["FanfareModel", "FanfareFanOut", "FanfareHTTP2", "FanfareLoop"],
        swiftSettings: swift),
    // Input of the decisions as a log that outlives the process.
    .target(
        name: "FanfareLog",
        dependencies: ["FanfareModel", "FanfareQueues", "FanfareLoop", "CFanfareLMDB", "CFanfareZlib"],
        swiftSettings: swift),
    .target(
        name: "Fanfare",
        dependencies: stages("FanfareJSON", "FanfareRules", "FanfareAPNs", "FanfareLog", "FanfareLoop"),
        swiftSettings: swift),
    // Recorded and live feeds through the engine, and questions about them: the command's, and nothing that an embedding program needs.
    .target(
        name: "FanfareReplay",
        dependencies: stages("Fanfare", "FanfareJSON", "FanfareFeeds", "FanfareAPNs", "FanfareLog", "FanfareLoop"),
        swiftSettings: swift),
    // Types that an app on the phone shares with a backend: they need nothing but Foundation.
    .target(name: "FanfareLineup", swiftSettings: swift),
    // Pictures of content states: the command's, and nothing that an embedding program needs.
    .target(
        name: "FanfarePresentation", dependencies: ["FanfareModel", "FanfareTOML", "CFanfareHarfBuzz"],
        resources: [.embedInCode("Templates")], swiftSettings: swift),
    .executableTarget(
        name: "FanfareCLI",
        dependencies: stages(
            "Fanfare", "FanfareReplay", "FanfareJSON", "FanfareFeeds", "FanfareLog", "FanfareLoop", "FanfareTOML",
            "FanfareRules", "FanfarePresentation"),
        swiftSettings: swift),

    // Code that tests of several modules and programs that play a shard share.
    .target(
        name: "FanfareTestSupport", dependencies: ["FanfareModel", "FanfareQueues", "FanfareFanOut"],
        path: "Tests/Support/FanfareTestSupport", swiftSettings: language),
    // The whole engine in one thread, with clocks and a network made of a seed.
    .target(
        name: "Simulation", dependencies: stages("FanfareLineup", "FanfareAPNs", "FanfareTestSupport"),
        path: "Tests/System/Simulation", swiftSettings: language),
    // An engine in one thread that dies again and again, on a disk that keeps what was synced.
    .target(
        name: "CrashSimulation", dependencies: stages("Fanfare", "FanfareRules", "FanfareLog", "FanfareTestSupport"),
        path: "Tests/System/CrashSimulation", swiftSettings: language),
    .testTarget(
        name: "SimulationTests", dependencies: stages("Simulation", "FanfareTestSupport"),
        path: "Tests/System/SimulationTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareModelTests", dependencies: ["FanfareModel"], path: "Tests/Unit/FanfareModelTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareDecisionsTests", dependencies: ["FanfareModel", "FanfareDecisions"],
        path: "Tests/Unit/FanfareDecisionsTests", swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareQueuesTests", dependencies: ["FanfareModel", "FanfareQueues", "FanfareTestSupport"],
        path: "Tests/Unit/FanfareQueuesTests", swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareThreadsTests", dependencies: ["FanfareThreads"], path: "Tests/Unit/FanfareThreadsTests",
        swiftSettings: swiftOfTests),
    // In `Decided` a shard gets what a decision core has said, and in `Lineups` an app reads what a shard sends.
    .testTarget(
        name: "FanfareFanOutTests", dependencies: stages("FanfareLineup", "FanfareTestSupport"),
        path: "Tests/Unit/FanfareFanOutTests", swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareLineupTests", dependencies: ["FanfareLineup"], path: "Tests/Unit/FanfareLineupTests",
        swiftSettings: swiftOfTests),
    // Listener, keys and certificates of servers: for tests, and for the servers under Load. Nothing that ships listens.
    .target(
        name: "ServerTestSupport", dependencies: ["FanfareLoop", "CFanfareUV", "CFanfareOpenSSL"],
        path: "Tests/Support/ServerTestSupport", swiftSettings: language),
    .testTarget(
        name: "FanfareTests",
        dependencies: stages(
            "Fanfare", "FanfareFeeds", "FanfareRules", "FanfareLog", "FanfareLoop", "FanfareTestSupport",
            "CrashSimulation"),
        path: "Tests/Unit/FanfareTests",
        exclude: ["GoldenStores"], swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareLogTests",
        dependencies: ["FanfareLog", "FanfareModel", "FanfareQueues", "FanfareLoop", "FanfareTestSupport"],
        path: "Tests/Unit/FanfareLogTests", swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareReplayTests",
        dependencies: stages(
            "FanfareReplay", "Fanfare", "FanfareJSON", "FanfareFeeds", "FanfareLog", "FanfareLoop", "FanfareRules",
            "FanfareTestSupport"),
        path: "Tests/Unit/FanfareReplayTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareAPNsTests",
        dependencies: [
            "FanfareAPNs", "FanfareModel", "FanfareFanOut", "FanfareHTTP2", "FanfareLoop", "ServerTestSupport",
            "FanfareTestSupport",
        ],
        path: "Tests/Unit/FanfareAPNsTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareFeedsTests",
        dependencies: ["FanfareFeeds", "FanfareModel", "FanfareThreads", "FanfareDecisions"],
        path: "Tests/Unit/FanfareFeedsTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareJSONTests", dependencies: ["FanfareJSON", "FanfareModel"], path: "Tests/Unit/FanfareJSONTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareTOMLTests", dependencies: ["FanfareTOML", "FanfareModel"], path: "Tests/Unit/FanfareTOMLTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareRulesTests",
        dependencies: [
            "FanfareRules", "FanfareTOML", "FanfareFeeds", "FanfareModel", "FanfareThreads", "FanfareDecisions",
        ],
        path: "Tests/Unit/FanfareRulesTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfarePresentationTests", dependencies: ["FanfarePresentation", "FanfareTOML", "FanfareModel"],
        path: "Tests/Unit/FanfarePresentationTests",
        swiftSettings: swiftOfTests),
    // Reference model: states that people must see of a feed, worked out as simply as possible, and a program that compares.
    .target(
        name: "ReferenceModel", dependencies: ["FanfareModel", "FanfareDecisions"],
        path: "Tests/Differential/ReferenceModel",
        exclude: ["Runner"], swiftSettings: language),
    .testTarget(
        name: "ReferenceModelTests", dependencies: ["ReferenceModel"], path: "Tests/Differential/ReferenceModelTests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "TruthTests", dependencies: ["FanfareFeeds", "FanfareModel", "FanfareDecisions"],
        path: "Tests/Differential/TruthTests", swiftSettings: swiftOfTests),
    .target(
        name: "HTTP2TestSupport", dependencies: ["FanfareHTTP2"], path: "Tests/Support/HTTP2TestSupport",
        swiftSettings: language),
    .testTarget(
        name: "FanfareHTTP2Tests", dependencies: ["FanfareHTTP2", "FanfareModel", "HTTP2TestSupport"],
        path: "Tests/Unit/FanfareHTTP2Tests",
        swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareLoopTests", dependencies: ["FanfareLoop", "CFanfareOpenSSL", "ServerTestSupport"],
        path: "Tests/Unit/FanfareLoopTests", swiftSettings: swiftOfTests),
    .testTarget(
        name: "FanfareCLITests",
        dependencies: stages(
            "FanfareCLI", "FanfarePresentation", "FanfareReplay", "Fanfare", "FanfareFeeds", "FanfareLog"),
        path: "Tests/Unit/FanfareCLITests",
        exclude: ["Storyboards"], swiftSettings: swiftOfTests),
]

if development || fuzzing {
    targets += [
        .systemLibrary(name: "CFanfareNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .target(
            name: "FuzzSubjects",
            dependencies: [
                "Fanfare", "FanfareHTTP2", "FanfareAPNs", "FanfareDecisions", "FanfareFeeds", "FanfareLog",
                "FanfareModel",
                "FanfareRules", "CFanfareNghttp2",
            ],
            path: "Tests/Fuzz/Subjects", swiftSettings: language),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzSubjects"], path: "Tests/Fuzz/FuzzTests", swiftSettings: swiftOfTests
        ),
    ]
}

if fuzzing {
    products.append(.executable(name: "fanfare-fuzz", targets: ["fanfare-fuzz"]))
    targets.append(
        .executableTarget(
            name: "fanfare-fuzz", dependencies: ["FuzzSubjects"], path: "Tests/Fuzz/Fuzzer",
            // libFuzzer brings `main`.
            swiftSettings: language + [.unsafeFlags(["-parse-as-library"])]))
}

if development {
    products += [
        .executable(name: "apns-simulator", targets: ["apns-simulator"]),
        .executable(name: "apns-distance", targets: ["apns-distance"]),
        .executable(name: "apns-load", targets: ["apns-load"]),
        .executable(name: "apns-floor", targets: ["apns-floor"]),
        .executable(name: "delivery-judge", targets: ["delivery-judge"]),
        .executable(name: "fanfare-load", targets: ["fanfare-load"]),
        .executable(name: "fanfare-sim", targets: ["fanfare-sim"]),
        .executable(name: "fanfare-crash-sim", targets: ["fanfare-crash-sim"]),
        .executable(name: "fanfare-model", targets: ["fanfare-model"]),
        .executable(name: "fanfare-season", targets: ["fanfare-season"]),
        .executable(name: "fanfare-crash", targets: ["fanfare-crash"]),
        .executable(name: "fanfare-power-loss", targets: ["fanfare-power-loss"]),
    ]
    targets += [
        // The judges share no JSON with the engine they judge.
        .target(name: "LoadJSON", path: "Load/json", swiftSettings: language),
        .target(
            name: "APNsSimulator",
            dependencies: ["CFanfareNghttp2", "FanfareHTTP2", "FanfareLoop", "ServerTestSupport", "LoadJSON"],
            path: "Load/apns-simulator/Simulator",
            // Its state changes in nghttp2's callbacks, ten per request, on one thread; debug builds and the sanitizers' check that.
            swiftSettings: language
                + (sanitizing ? [] : [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))])
        ),
        .executableTarget(
            name: "apns-simulator", dependencies: ["APNsSimulator", "FanfareLoop"], path: "Load/apns-simulator",
            exclude: ["README.md", "Simulator"], swiftSettings: language),
        // A server on this machine as if it were far away.
        .target(
            name: "Distance", dependencies: ["FanfareModel", "FanfareLoop", "ServerTestSupport"],
            path: "Load/distance/Distance", swiftSettings: language),
        .executableTarget(
            name: "apns-distance", dependencies: ["Distance", "FanfareLoop"], path: "Load/distance",
            exclude: ["Distance", "README.md"], swiftSettings: language),
        .testTarget(
            name: "DistanceTests", dependencies: ["Distance", "FanfareModel", "FanfareLoop", "ServerTestSupport"],
            path: "Tests/Unit/DistanceTests", swiftSettings: swiftOfTests),
        // A program with a store that is killed again and again, and the judge of all its lives.
        .target(
            name: "CrashTest",
            dependencies: stages("Fanfare", "FanfareAPNs", "FanfareLog", "FanfareLoop", "APNsSimulator", "LoadJSON"),
            path: "Load/crash/Crash", swiftSettings: language),
        .executableTarget(
            name: "fanfare-crash", dependencies: ["CrashTest", "FanfareLoop"], path: "Load/crash", exclude: ["Crash"],
            swiftSettings: language),
        .testTarget(
            name: "CrashJudgeTests", dependencies: ["CrashTest", "FanfareModel", "LoadJSON"],
            path: "Tests/Unit/CrashJudgeTests",
            swiftSettings: swiftOfTests),
        // The store's writes, recorded; what a loss of power leaves of them, and the judge of what is read back.
        .target(name: "WriteRecorder", path: "Load/powerloss/Recorder"),
        .target(
            name: "PowerLossParts", dependencies: ["FanfareLog", "FanfareModel"], path: "Load/powerloss/Parts",
            swiftSettings: language),
        .target(
            name: "PowerLoss", dependencies: ["WriteRecorder", "PowerLossParts", "FanfareModel"],
            path: "Load/powerloss/Power", swiftSettings: language),
        .executableTarget(
            name: "fanfare-power-loss", dependencies: ["PowerLoss"], path: "Load/powerloss",
            exclude: ["Parts", "Power", "Recorder"], swiftSettings: language),
        // The tests do without the recorder, which replaces libc's calls in the whole process.
        .testTarget(
            name: "PowerLossTests",
            dependencies: ["PowerLossParts", "FanfareLog", "FanfareModel", "FanfareTestSupport"],
            path: "Tests/Unit/PowerLossTests", swiftSettings: swiftOfTests),
        // `make bench-apns`: our client alone, and the floor under any client.
        .executableTarget(
            name: "apns-load",
            dependencies: [
                "FanfareAPNs", "FanfareModel", "FanfareFanOut", "FanfareHTTP2", "FanfareLoop", "CountAllocations",
            ],
            path: "Load/apns-load", swiftSettings: language),
        .executableTarget(name: "apns-floor", dependencies: ["CFanfareOpenSSL"], path: "Load/apns-floor"),
        .target(name: "DeliveryJudge", dependencies: ["LoadJSON"], path: "Load/judge/Judge", swiftSettings: language),
        .executableTarget(
            name: "delivery-judge", dependencies: ["DeliveryJudge", "LoadJSON"], path: "Load/judge",
            exclude: ["Judge"], swiftSettings: language),
        // The load laboratory: scenarios through the whole engine, measured and judged.
        .target(
            name: "Laboratory",
            dependencies: stages(
                "Fanfare", "FanfareFeeds", "FanfareTOML", "FanfareAPNs", "FanfareLog", "FanfareLoop", "APNsSimulator",
                "Distance"),
            path: "Load/laboratory", exclude: ["README.md"], swiftSettings: language),
        .executableTarget(
            name: "fanfare-load",
            dependencies: ["Laboratory", "LaboratoryReport", "FanfareModel", "FanfareTOML", "FanfareLoop"],
            path: "Load/fanfare-load", swiftSettings: language),
        .testTarget(
            name: "FanfareLoadTests", dependencies: ["fanfare-load", "Laboratory"],
            path: "Tests/Unit/FanfareLoadTests", swiftSettings: swiftOfTests),
        .testTarget(
            name: "LaboratoryTests", dependencies: stages("Laboratory", "FanfareTOML"),
            path: "Tests/Unit/LaboratoryTests", swiftSettings: swiftOfTests),
        // Results of the laboratory as pages, plots, logs and comparisons.
        .target(
            name: "LaboratoryReport", dependencies: ["Laboratory", "CFanfareZlib"], path: "Load/report",
            swiftSettings: language),
        .testTarget(
            name: "LaboratoryReportTests", dependencies: ["Laboratory", "LaboratoryReport"],
            path: "Tests/Unit/LaboratoryReportTests", exclude: ["hdr_check.py"], swiftSettings: swiftOfTests),
        .executableTarget(
            name: "fanfare-sim", dependencies: ["Simulation", "FanfareTestSupport"], path: "Load/fanfare-sim",
            swiftSettings: language),
        .executableTarget(
            name: "fanfare-crash-sim", dependencies: ["CrashSimulation", "FanfareTestSupport"],
            path: "Load/fanfare-crash-sim", swiftSettings: language),
        // Weeks of an engine's life in virtual time, to see what grows.
        .executableTarget(
            name: "fanfare-season",
            dependencies: stages("Fanfare", "FanfareLog", "FanfareLineup", "CountAllocations", "FanfareTestSupport"),
            path: "Tests/System/Season",
            swiftSettings: language),
        .testTarget(
            name: "SeasonTests",
            dependencies: stages("fanfare-season", "FanfareLog", "FanfareTestSupport", "CountAllocations"),
            path: "Tests/System/SeasonTests", swiftSettings: swiftOfTests),
        .executableTarget(
            name: "fanfare-model", dependencies: ["ReferenceModel"], path: "Tests/Differential/ReferenceModel/Runner",
            swiftSettings: language),
        .testTarget(
            name: "APNsSimulatorTests",
            dependencies: [
                "APNsSimulator", "FanfareHTTP2", "FanfareLoop", "ServerTestSupport", "LoadJSON", "apns-simulator",
                "apns-load", "apns-floor", "delivery-judge",
            ],
            path: "Tests/System/APNsSimulatorTests",
            exclude: ["client.py"], swiftSettings: swiftOfTests),
        .testTarget(
            name: "DeliveryJudgeTests", dependencies: ["DeliveryJudge", "LoadJSON"],
            path: "Tests/Unit/DeliveryJudgeTests", swiftSettings: swiftOfTests),
        .testTarget(name: "EndToEndTests", path: "Tests/System/EndToEndTests", swiftSettings: swiftOfTests),
        .testTarget(
            name: "FanfareHTTP2OracleTests",
            dependencies: ["FanfareHTTP2", "FanfareModel", "HTTP2TestSupport", "FuzzSubjects", "CFanfareNghttp2"],
            path: "Tests/Differential/FanfareHTTP2OracleTests",
            swiftSettings: swiftOfTests),
        .testTarget(
            name: "FanfareAPNsPeerTests",
            dependencies: stages(
                "Fanfare", "FanfareReplay", "FanfareAPNs", "FanfareJSON", "FanfareFeeds", "FanfareLoop",
                "APNsSimulator",
                "ServerTestSupport", "CountAllocations", "DeliveryJudge", "LoadJSON", "FanfareTestSupport"),
            path: "Tests/System/FanfareAPNsPeerTests",
            exclude: ["strict_server.py", "Storyboards"], swiftSettings: swiftOfTests),
    ]
}

if development || benchmarks {
    targets.append(.target(name: "CountAllocations", path: "Tests/Support/CountAllocations"))
}

if benchmarks {
    products += [.executable(name: "fanfare-bench", targets: ["fanfare-bench"])]
    targets += [
        // The peers at their best: without their assertions, and at the level CMake's release builds choose.
        .target(
            name: "CFanfareBench", path: "Benchmarks/harness",
            cxxSettings: [.define("NDEBUG"), .unsafeFlags(["-O3"], .when(configuration: .release))],
            linkerSettings: [.linkedLibrary("benchmark")]),
        .executableTarget(
            name: "fanfare-bench",
            dependencies: stages(
                "CFanfareBench", "Fanfare", "FanfareFeeds", "FanfareLog", "FanfareLoop", "CountAllocations",
                "FanfareTestSupport"),
            path: "Benchmarks/fanfare-bench", swiftSettings: language),
    ]
}

if sanitizing {
    var wanted = [
        "FanfareLoopTests", "FanfareTests", "FanfareReplayTests", "FanfareAPNsPeerTests", "FanfareQueuesTests",
        "FanfareThreadsTests", "FanfareFeedsTests",
    ]
    var kept: Set<String> = []
    while let name = wanted.popLast() {
        guard kept.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in targets.first(where: { $0.name == name })?.dependencies ?? [] {
            wanted.append(name)
        }
    }
    targets.removeAll { !kept.contains($0.name) }
    products.removeAll { !kept.contains($0.name) }
}

let package = Package(
    name: "fanfare", products: products, targets: targets, swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17)
