// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "tenure", path: "..", traits: ["Service"]),
        // The floors: what any verifier must spend on the same bytes.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // The floor of the record: bare INSERTs.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // For the server's log in `http-customer`.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // Only to read the signer's key for them.
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    ],
    targets: [
        .executableTarget(
            name: "Bench",
            dependencies: [
                .product(name: "TenureCore", package: "tenure"),
                .product(name: "TenureAppStore", package: "tenure"),
                .product(name: "TenureMint", package: "tenure"),
                .product(name: "TenureServer", package: "tenure"),
                .product(name: "TenureRehearsal", package: "tenure"),
                .product(name: "PostgresBenchmark", package: "tenure"),
                .product(name: "ClientBenchmark", package: "tenure"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
