// swift-tools-version: 6.2
import PackageDescription

/// This trait guards everything that the service, the command and rehearsals need, and apps don't. SwiftPM fetches the
/// dependencies of every product of a package, used or not, unless an off-by-default trait guards them. `make` enables
/// it.
let service: TargetDependencyCondition? = .when(traits: ["Service"])
/// Guards the libraries that check signatures. Apple's platforms have them, so an app there downloads nothing.
let verification: TargetDependencyCondition? = .when(traits: ["Verification"])

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
if Context.environment["TENURE_WARNINGS_AS_ERRORS"] != nil {
    settings.append(.treatAllWarnings(as: .error))
}
/// Set by `Scripts/fuzz`. The coverage of these modules guides libFuzzer; counters in every library beside them would
/// slow it down tenfold.
let isFuzzing = Context.environment["TENURE_FUZZING"] != nil
if isFuzzing {
    settings.append(.unsafeFlags(["-sanitize=fuzzer"]))
}
/// Set by `Scripts/bench`, and by `make test`, which only compiles the benchmarks.
let isBenchmarking = Context.environment["TENURE_BENCHMARKS"] != nil

let package = Package(
    name: "tenure",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Tenure", targets: ["Tenure"]),
        .library(name: "TenureCore", targets: ["TenureCore"]),
        // With `TenureJSON`: its `JSONValue` holds the fields that Tenure doesn't read.
        .library(name: "TenureAppStore", targets: ["TenureAppStore", "TenureJSON"]),
        .library(name: "TenureServer", targets: ["TenureServer"]),
        // `make install` installs it as `tenure`. That name would collide with the library's on file systems that
        // ignore case.
        .executable(name: "tenure-cli", targets: ["TenureCLI"]),
    ],
    traits: [
        .trait(
            name: "Service", description: "The service, the command and the minters: everything but the client.",
            enabledTraits: ["Verification"]),
        .trait(
            name: "Verification", description: "Checking what the App Store signs; the client needs it on Linux alone."),
    ],
    dependencies: [
        // P-256, RSA and hashing, for what the App Store signs and for what the service signs.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // Parsing X.509 certificates; the minters also make them.
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        // DER for those certificates: swift-certificates uses its types.
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        // YAML with positions, for policy files.
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        // The command line.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // The HTTP server.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        // Types in Hummingbird's interface: headers and statuses, buffers and socket errors.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        // Hummingbird's request and response parts, for the clock on every connection.
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        // TLS of the service, with certificate files.
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // Calls to Apple's App Store Server API, and webhooks.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // Logs and metrics.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        // Start, signals and graceful shutdown.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // JSON, Base64 and RFC 3339.
        .target(name: "TenureJSON"),
        .target(name: "TenureCore", dependencies: ["TenureJSON"]),
        // Small files, read whole and written whole. `TenureCore` reads and writes none.
        .target(name: "TenureFiles"),
        // Identity, permissions and dates of files. Apart from `TenureFiles`, because Apple requires apps to give a
        // reason for these calls; and from targets that import SwiftNIO, in which `stat` is ambiguous.
        .target(name: "TenureFileAttributes"),
        .target(
            name: "TenurePolicyFile",
            dependencies: [
                "TenureCore", "TenureJSON",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Yams", package: "Yams", condition: service),
            ]
        ),
        // The formats of delivered content: manifests and signed catalogs.
        .target(
            name: "TenureContent",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureAPI", "TenurePolicyFile",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ]),
        // Archives, manifests and catalogs from files: for the command and for tests. No app needs it.
        .target(
            name: "TenureContentPublishing",
            dependencies: [
                "TenureContent", "TenureCore", "TenurePolicyFile", "TenureFiles", "TenureFileAttributes",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ]),
        // The linter: for the command and for rehearsals. No app needs it.
        .target(name: "TenurePolicyLint", dependencies: ["TenureCore", "TenureJSON", "TenurePolicyFile"]),
        .target(
            name: "TenureAppStore",
            dependencies: [
                "TenureCore", "TenureJSON",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: verification),
                .product(name: "X509", package: "swift-certificates", condition: verification),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: verification),
            ]
        ),
        .target(
            name: "TenureMint",
            dependencies: [
                "TenureAppStore",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: verification),
                .product(name: "X509", package: "swift-certificates", condition: verification),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: verification),
            ]
        ),
        .target(
            name: "TenureStore",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureFiles", "TenureFileAttributes",
                .target(name: "CSQLite", condition: service),
                .product(name: "Crypto", package: "swift-crypto", condition: service),
            ]
        ),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "TenurePostgres",
            dependencies: ["TenureCore", "TenureJSON", "TenureStore", .target(name: "CLibPQ", condition: service)]
        ),
        .target(name: "TenureAPI", dependencies: ["TenureCore", "TenureJSON"]),
        .target(
            name: "TenureServer",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenurePolicyLint", "TenureAppStore", "TenureStore",
                "TenureAPI",
                "TenureFiles", "TenureFileAttributes", "TenureRehearsal", "TenureContent",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: service),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: service),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: service),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: service),
                .product(name: "NIOPosix", package: "swift-nio", condition: service),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: service),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: service),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: service),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: service),
                .product(name: "Yams", package: "Yams", condition: service),
            ],
            // The description of the HTTP API; `Docs/openapi.yaml` is a link to it.
            resources: [.embedInCode("OpenAPI/openapi.yaml")]
        ),
        .target(
            name: "LocalAppStore",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenureAppStore", "TenureMint", "TenureStore",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: service),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: service),
            ]
        ),
        // What a policy would do to all customers with known evidence.
        .target(
            name: "TenureRehearsal",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenurePolicyLint", "TenureAppStore", "TenureStore",
                "TenureAPI",
            ]),
        // The HTTP transport of the client and of StoreKit on Linux.
        .target(name: "TenureHTTP", dependencies: ["TenureCore"]),
        // The client SDK. StoreKit is Apple's, and on Linux this package's.
        .target(
            name: "Tenure",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureFiles", "TenureAPI", "TenureHTTP", "TenurePolicyFile",
                "TenureContent",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")]),
        // The example app's model; its tests play a scenario with it.
        .target(
            name: "CalculatorApp", dependencies: ["Tenure"], path: "Examples/CalculatorApp",
            resources: [.copy("tenure.json")]),
        .executableTarget(
            name: "TenureCLI",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenurePolicyLint", "TenureAppStore", "TenureMint",
                "TenureStore",
                "TenurePostgres", "TenureAPI", "TenureServer", "LocalAppStore", "TenureRehearsal", "TenureContent",
                "TenureContentPublishing", "TenureFileAttributes", "TenureFiles",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: service),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "Yams", package: "Yams", condition: service),
            ]
        ),
        .testTarget(name: "TenureJSONTests", dependencies: ["TenureJSON", "TenureMint"]),
        .testTarget(name: "TenureCoreTests", dependencies: ["TenureCore", "TenureMint"]),
        // What lies in the repository beside the code: examples, pages and cases.
        .target(name: "RepositoryFiles", path: "Tests/RepositoryFiles"),
        .testTarget(
            name: "TenurePolicyFileTests",
            dependencies: ["TenureCore", "TenureJSON", "TenurePolicyFile", "TenureMint", "RepositoryFiles"]),
        .testTarget(
            name: "TenurePolicyLintTests",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenurePolicyLint", "TenureMint", "RepositoryFiles",
            ]),
        // The code with which verifiers must reject each defect that `TenureMint` makes.
        .target(
            name: "ExpectedRejections", dependencies: ["TenureAppStore", "TenureMint"],
            path: "Tests/ExpectedRejections"),
        .testTarget(
            name: "TenureAppStoreTests",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureAppStore", "TenureMint", "ExpectedRejections",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "X509", package: "swift-certificates", condition: verification),
            ]
        ),
        .testTarget(name: "TenureMintTests", dependencies: ["TenureAppStore", "TenureMint"]),
        // The contract of every store, run by the tests of each.
        .target(
            name: "StoreContract", dependencies: ["TenureCore", "TenureJSON", "TenureStore", "TenureMint"],
            path: "Tests/StoreContract"),
        .testTarget(
            name: "TenureStoreTests",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureStore", "TenureMint", "StoreContract", "CommandRunner",
            ]),
        // A PostgreSQL of the tests' own.
        .target(name: "PostgresServer", dependencies: ["CommandRunner"], path: "Tests/PostgresServer"),
        // The readers of untrusted bytes, with sound inputs for each: for the fuzzer and for the tests.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenureAppStore", "TenureStore", "TenureAPI",
                "TenureServer",
                "TenureRehearsal", "TenureMint", "LocalAppStore", "Tenure", "TenureContent",
                "TenureContentPublishing",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
            ], path: "Tests/FuzzTargets"),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TenureMint"]),
        .testTarget(
            name: "TenurePostgresTests",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureStore", "TenurePostgres", "StoreContract", "PostgresServer",
                "CommandRunner",
            ]),
        // The app that tests sell in the local App Store, and what its customers may use.
        .target(
            name: "CalculatorSeller",
            dependencies: ["TenureCore", "TenureJSON", "TenureAppStore", "TenureMint", "LocalAppStore"],
            path: "Tests/CalculatorSeller"),
        .testTarget(
            name: "LocalAppStoreTests",
            dependencies: [
                "CalculatorSeller",
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenureAppStore", "TenureMint", "TenureStore",
                "LocalAppStore",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "HummingbirdTesting", package: "hummingbird", condition: service),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: service),
            ]
        ),
        .testTarget(
            name: "TenureRehearsalTests",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenurePolicyLint", "TenureAppStore", "TenureStore",
                "TenureRehearsal", "TenureMint", "CommandRunner",
            ]),
        // An app with asset packs, its web server and the system's download daemon, for tests that kill them.
        .executableTarget(
            name: "ContentProcess", dependencies: ["Tenure", "TenureCore", "TenureHTTP", "TestTransport"],
            path: "Tests/ContentProcess"),
        // A transport that fails or is slow where a test wants it, and a listener for the servers of tests.
        .target(
            name: "TestTransport", dependencies: ["TenureCore", "TenureHTTP"], path: "Tests/TestTransport"),
        .testTarget(
            name: "TenureTests",
            dependencies: [
                "CalculatorApp", "Tenure", "TenureCore", "TenureJSON", "TenureFiles", "TenureHTTP", "TenurePolicyFile",
                "TenureAPI", "TenureAppStore", "TenureMint", "TenureContent", "TenureContentPublishing",
                "LocalAppStore", "TenureServer", "TenureStore", "CommandRunner", "ContentProcess",
                "TestTransport",
                .product(name: "HummingbirdTesting", package: "hummingbird", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOPosix", package: "swift-nio", condition: service),
            ]),
        .testTarget(
            name: "TenureContentTests",
            dependencies: [
                "TenureContent", "TenureCore", "TenureJSON", "TenurePolicyFile",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ]),
        .testTarget(
            name: "TenureContentPublishingTests",
            dependencies: [
                "TenureContent", "TenureContentPublishing", "TenureCore", "TenureJSON", "TenurePolicyFile",
                "CommandRunner",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ]),
        .testTarget(name: "TenureHTTPTests", dependencies: ["TenureHTTP", "TestTransport"]),
        .testTarget(name: "TenureAPITests", dependencies: ["TenureCore", "TenureJSON", "TenureAPI"]),
        .testTarget(
            name: "TenureServerTests",
            dependencies: [
                "TenureCore", "TenureJSON", "TenurePolicyFile", "TenureAppStore", "TenureStore", "TenureAPI",
                "TenureServer", "TenureFileAttributes",
                "TenureMint", "CommandRunner", "LocalAppStore", "StoreContract", "ExpectedRejections", "TenureContent",
                "TenureContentPublishing",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: service),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: service),
                .product(name: "NIOPosix", package: "swift-nio", condition: service),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: service),
                .product(name: "HummingbirdTesting", package: "hummingbird", condition: service),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: service),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: service),
                .product(name: "X509", package: "swift-certificates", condition: verification),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: verification),
            ]
        ),
        // These run the built command, and tools of the system.
        .target(name: "CommandRunner", path: "Tests/CommandRunner"),
        .testTarget(
            name: "TenureCLITests",
            dependencies: [
                "CommandRunner", "TenureCLI", "TenureCore", "TenureJSON", "TenurePolicyFile", "TenureContent",
                "TenureContentPublishing",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ]),
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "CommandRunner", "TenureCLI", "TenureCore", "TenureJSON", "TenureAppStore", "TenureMint",
                "LocalAppStore", "ExpectedRejections",
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CommandRunner", "TenureCLI", "TenureCore", "TenureJSON", "TenureAppStore", "TenureMint", "TenureStore",
                "TenureServer", "TenureRehearsal", "TenureAPI", "TenurePolicyFile", "LocalAppStore", "PostgresServer",
                "TenurePostgres", "CalculatorSeller", "TestTransport",
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: service),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: service),
                .product(name: "NIOCore", package: "swift-nio", condition: service),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: service),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Where Apple's StoreKit does not exist, the package brings its own, in front of a local App Store.
#if os(Linux)
    package.products.append(.library(name: "StoreKit", targets: ["StoreKit"]))
    package.traits.insert(.default(enabledTraits: ["Verification"]))
    package.targets += [
        .target(
            name: "StoreKit",
            dependencies: [
                "TenureCore", "TenureJSON", "TenureAppStore", "TenureHTTP",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
            ]),
        // Devices of a local App Store in the same process, for tests.
        .target(
            name: "InProcessDevices", dependencies: ["StoreKit", "LocalAppStore", "TenureJSON"],
            path: "Tests/InProcessDevices"),
        // Shares its state with others of its kind, for tests.
        .executableTarget(
            name: "StateProcess",
            dependencies: [
                "Tenure", "TenureCore", "TenureJSON", "TenureAppStore", "TenurePolicyFile", "TenureMint",
                "LocalAppStore", "StoreKit", "InProcessDevices",
            ], path: "Tests/StateProcess"),
        .testTarget(
            name: "StoreKitTests",
            dependencies: [
                "StoreKit", "TenureCore", "TenureJSON", "TenureAppStore", "TenureHTTP", "TenureMint", "LocalAppStore",
                "TenurePolicyFile", "CalculatorSeller", "InProcessDevices",
            ]),
    ]
    for target in package.targets where ["Tenure", "TenureTests", "CalculatorApp"].contains(target.name) {
        target.dependencies.append("StoreKit")
        if target.type == .test { target.dependencies += ["StateProcess", "InProcessDevices"] }
    }
#endif

if isFuzzing {
    package.targets.append(
        .executableTarget(
            name: "tenure-fuzz", dependencies: ["FuzzTargets", "TenureMint"], path: "Fuzz",
            exclude: ["authority", "corpus", "findings"],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]))
}

if isBenchmarking {
    package.targets.append(
        .executableTarget(
            name: "Bench",
            dependencies: [
                "Tenure", "TenureAPI", "TenureAppStore", "TenureContent", "TenureContentPublishing", "TenureCore",
                "TenureHTTP", "TenureJSON", "TenureMint", "TenurePolicyFile", "TenurePostgres", "TenureRehearsal",
                "TenureServer", "TenureStore", "PostgresServer",
                .product(name: "Crypto", package: "swift-crypto", condition: verification),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: verification),
                .target(name: "CSQLite", condition: service),
                .product(name: "Hummingbird", package: "hummingbird", condition: service),
                .product(name: "Logging", package: "swift-log", condition: service),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: verification),
                .product(name: "X509", package: "swift-certificates", condition: verification),
            ], path: "Benchmarks"))
    // The benchmarks measure internal functions; a debug build is always built for testing.
    for target in package.targets where ["TenurePostgres", "TenureRehearsal", "TenureServer"].contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-enable-testing"], .when(configuration: .release))]
    }
}

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
