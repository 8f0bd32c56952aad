// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "feeds",
    dependencies: [.package(url: "https://github.com/example/fanfare.git", exact: "0.1.0")],
    targets: [
        .executableTarget(
            name: "Feeds",
            dependencies: [
                .product(name: "Fanfare", package: "fanfare"), .product(name: "FanfareFeeds", package: "fanfare"),
                .product(name: "FanfareRules", package: "fanfare"),
            ])
    ])
