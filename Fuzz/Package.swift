// swift-tools-version: 6.2
import PackageDescription

// The coverage that counts is that of the parsers, which are another package: it instruments them (see `Scripts/fuzz`). The
// flags here only link libFuzzer.
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
