// swift-tools-version: 6.2
import PackageDescription

// The targets that have planted faults, and the tests that find them: one build of these few targets is all that
// `scripts/mutants` waits for. This manifest takes the place of the package's own manifest in the copy that is planted.

let swift: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func stages(_ others: String...) -> [Target.Dependency] {
    (["FanfareModel", "FanfareQueues", "FanfareDecisions", "FanfareFanOut"] + others).map { .byName(name: $0) }
}

// Most of the time went into optimising tests that run for a moment.
let swiftOfTests = swift + [.unsafeFlags(["-Onone"])]

let package = Package(
    name: "mutants",
    targets: [
        .target(name: "FanfareModel", swiftSettings: swift),
        .systemLibrary(name: "CFanfareThreads"),
        .target(name: "FanfareThreads", dependencies: ["CFanfareThreads"], swiftSettings: swift),
        .target(name: "FanfareQueues", dependencies: ["FanfareModel"], swiftSettings: swift),
        .target(
            name: "FanfareDecisions", dependencies: ["FanfareModel", "FanfareQueues"], swiftSettings: swift,
            linkerSettings: [.linkedLibrary("m")]),
        .target(
            name: "FanfareFanOut", dependencies: ["FanfareModel", "FanfareQueues"], swiftSettings: swift,
            linkerSettings: [.linkedLibrary("m")]),
        .target(name: "FanfareLineup", swiftSettings: swift),
        .target(name: "CFanfareTOML"),
        .target(name: "FanfareTOML", dependencies: ["FanfareModel", "CFanfareTOML"], swiftSettings: swift),
        .systemLibrary(name: "CFanfareHarfBuzz", pkgConfig: "harfbuzz-subset"),
        .target(
            name: "FanfarePresentation", dependencies: ["FanfareModel", "FanfareTOML", "CFanfareHarfBuzz"],
            resources: [.embedInCode("Templates")], swiftSettings: swift),
        .testTarget(
            name: "FanfarePresentationTests", dependencies: ["FanfarePresentation", "FanfareTOML", "FanfareModel"],
            path: "Tests/Unit/FanfarePresentationTests",
            swiftSettings: swiftOfTests),
        .systemLibrary(name: "CFanfareUV", pkgConfig: "libuv"),
        .systemLibrary(name: "CFanfareOpenSSL", pkgConfig: "openssl"),
        .target(name: "CFanfareStart", dependencies: ["CFanfareOpenSSL"]),
        .target(name: "FanfareHTTP2", swiftSettings: swift),
        .target(
            name: "FanfareLoop", dependencies: ["FanfareThreads", "CFanfareUV", "CFanfareOpenSSL", "CFanfareStart"],
            swiftSettings: swift),
        .target(
            name: "FanfareAPNs", dependencies: ["FanfareModel", "FanfareFanOut", "FanfareHTTP2", "FanfareLoop"],
            swiftSettings: swift),
        .target(
            name: "ServerTestSupport", dependencies: ["FanfareLoop", "CFanfareUV", "CFanfareOpenSSL"],
            path: "Tests/Support/ServerTestSupport", swiftSettings: swift),
        .testTarget(
            name: "FanfareAPNsTests",
            dependencies: [
                "FanfareAPNs", "FanfareModel", "FanfareFanOut", "FanfareLoop", "ServerTestSupport",
                "FanfareTestSupport",
            ],
            path: "Tests/Unit/FanfareAPNsTests",
            swiftSettings: swiftOfTests),
        .target(name: "CFanfareSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "FanfareJSON", dependencies: ["FanfareModel", "CFanfareSimdjson"], swiftSettings: swift),
        .target(
            name: "CFanfareGTFS", exclude: ["gtfs-realtime.proto"], linkerSettings: [.linkedLibrary("protobuf-c")]),
        .target(
            name: "FanfareFeeds",
            dependencies: ["FanfareModel", "FanfareQueues", "FanfareThreads", "FanfareJSON", "CFanfareGTFS"],
            swiftSettings: swift),
        .target(
            name: "FanfareRules", dependencies: ["FanfareModel", "FanfareThreads", "FanfareDecisions", "FanfareTOML"],
            swiftSettings: swift),
        .target(
            name: "Fanfare",
            dependencies: stages("FanfareJSON", "FanfareRules", "FanfareAPNs", "FanfareLog", "FanfareLoop"),
            swiftSettings: swift),
        .target(
            name: "FanfareTestSupport", dependencies: ["FanfareModel", "FanfareQueues", "FanfareFanOut"],
            path: "Tests/Support/FanfareTestSupport",
            swiftSettings: swiftOfTests),
        .target(
            name: "CrashSimulation",
            dependencies: stages("Fanfare", "FanfareRules", "FanfareLog", "FanfareTestSupport"),
            path: "Tests/System/CrashSimulation", swiftSettings: swift),
        .testTarget(
            name: "FanfareTests",
            dependencies: stages(
                "Fanfare", "FanfareFeeds", "FanfareRules", "FanfareLog", "FanfareLoop", "FanfareTestSupport",
                "CrashSimulation"),
            path: "Tests/Unit/FanfareTests",
            swiftSettings: swiftOfTests),
        .systemLibrary(name: "CFanfareLMDB", pkgConfig: "lmdb"),
        .systemLibrary(name: "CFanfareZlib", pkgConfig: "zlib"),
        .target(
            name: "FanfareLog", dependencies: ["FanfareModel", "FanfareLoop", "CFanfareLMDB", "CFanfareZlib"],
            swiftSettings: swift),
        .testTarget(
            name: "FanfareLogTests", dependencies: ["FanfareLog", "FanfareModel", "FanfareLoop", "FanfareTestSupport"],
            path: "Tests/Unit/FanfareLogTests",
            swiftSettings: swiftOfTests),
        .target(
            name: "FanfareReplay",
            dependencies: stages("Fanfare", "FanfareJSON", "FanfareFeeds", "FanfareAPNs", "FanfareLog", "FanfareLoop"),
            swiftSettings: swift),
        .testTarget(
            name: "FanfareReplayTests",
            dependencies: stages(
                "FanfareReplay", "Fanfare", "FanfareJSON", "FanfareFeeds", "FanfareLog", "FanfareLoop",
                "FanfareTestSupport"),
            path: "Tests/Unit/FanfareReplayTests",
            swiftSettings: swiftOfTests),
        .testTarget(
            name: "FanfareModelTests", dependencies: ["FanfareModel"], path: "Tests/Unit/FanfareModelTests",
            swiftSettings: swiftOfTests),
        .testTarget(
            name: "FanfareDecisionsTests", dependencies: ["FanfareModel", "FanfareDecisions"],
            path: "Tests/Unit/FanfareDecisionsTests",
            swiftSettings: swiftOfTests),
        .testTarget(
            name: "FanfareFanOutTests", dependencies: stages("FanfareLineup", "FanfareTestSupport"),
            path: "Tests/Unit/FanfareFanOutTests",
            swiftSettings: swiftOfTests),
        .target(
            name: "Simulation", dependencies: stages("FanfareLineup", "FanfareAPNs", "FanfareTestSupport"),
            path: "Tests/System/Simulation", swiftSettings: swift),
        .executableTarget(
            name: "fanfare-sim", dependencies: ["Simulation", "FanfareTestSupport"], path: "Load/fanfare-sim",
            swiftSettings: swift),
        .target(
            name: "ReferenceModel", dependencies: ["FanfareModel", "FanfareDecisions"],
            path: "Tests/Differential/ReferenceModel",
            exclude: ["Runner"], swiftSettings: swift),
        .executableTarget(
            name: "fanfare-model", dependencies: ["ReferenceModel"], path: "Tests/Differential/ReferenceModel/Runner",
            swiftSettings: swift),
    ],
    swiftLanguageModes: [.v6], cxxLanguageStandard: .cxx17)
