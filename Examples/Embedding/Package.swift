// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "embedding",
    dependencies: [.package(url: "https://github.com/example/fanfare.git", exact: "0.1.0")],
    targets: [
        .executableTarget(name: "Embedding", dependencies: [.product(name: "Fanfare", package: "fanfare")])
    ])
