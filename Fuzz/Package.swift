// swift-tools-version: 6.2
import PackageDescription

// Everything is instrumented and built for testing from the command line (see `Scripts/fuzz`): the coverage that counts is that
// of the parsers, which are another package. The flags here only link libFuzzer.
let package = Package(
    name: "tenure-fuzz",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "tenure", path: "..", traits: ["Service"])
    ],
    targets: [
        .executableTarget(
            name: "tenure-fuzz",
            dependencies: [
                .product(name: "TenureCore", package: "tenure"),
                .product(name: "TenureAppStore", package: "tenure"),
                .product(name: "TenurePolicyFile", package: "tenure"),
                .product(name: "TenureMint", package: "tenure"),
                .product(name: "FuzzedReaders", package: "tenure"),
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        )
    ],
    swiftLanguageModes: [.v6]
)
