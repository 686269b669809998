import Crypto
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// Measures ratios: the cost of Tenure's code, divided by that of a *floor*, the least work that any implementation has
/// to do on the same bytes. `Docs/performance.md` lists the ratios with their current values.
///
/// Without arguments, it measures all ratios except `scaling`. With the name of a ratio, it measures only that one. For
/// each, it prints a line `ratio NAME VALUE GOAL`.
@main enum Bench {
    static func main() async {
        do {
            try await run()
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let only = arguments.first
        if only == "--serve-content" { return try await ContentDownloads.serve(Array(arguments.dropFirst())) }
        if only == "--serve" { return try await HTTPRatio.serve(Array(arguments.dropFirst())) }
        let ratios = [
            "jws-verify-warm", "receipt-verify-small", "receipt-verify-large", "receipt-growth", "json-escaped-names",
            "decide",
        ]
        let names =
            ratios + [HTTPRatio.name, DurableSyncs.name, DatabaseGrowth.name, PostgresRead.name]
            + [ClientRatios.allows, ClientRatios.firstAnswer] + Rehearsals.names
            + [LargeSyncs.name, ContentDownloads.name] + ContentClients.names + [Scaling.name]
        if let only, !names.contains(only) {
            FileHandle.standardError.write(
                Data("error: there is no ratio `\(only)`; name one of \(names.joined(separator: ", "))\n".utf8))
            exit(64)
        }
        let fixtures = try Fixtures()
        for name in ratios where only == nil || only == name { try fixtures.ratio(name).measure() }
        if only == nil || only == ClientRatios.allows || only == ClientRatios.firstAnswer {
            try await ClientRatios.measure(only)
        }
        if only == nil || only == HTTPRatio.name { try HTTPRatio.measure() }
        if only == nil || only == DurableSyncs.name { try await DurableSyncs.measure(fixtures) }
        if only == nil || only == LargeSyncs.name { try await LargeSyncs.measure(fixtures) }
        for name in Rehearsals.names where only == nil || only == name { try await Rehearsals.measure(name, fixtures) }
        if only == nil || only == ContentDownloads.name { try await ContentDownloads.measure() }
        for name in ContentClients.names where only == nil || only == name { try await ContentClients.measure(name) }
        if only == nil || only == PostgresRead.name { try PostgresRead.measure() }
        if only == nil || only == DatabaseGrowth.name { try DatabaseGrowth.measure() }
        // Measured only on request, because it takes half an hour.
        if only == Scaling.name { try await Scaling.measure(fixtures) }
    }
}

/// What several benchmarks share: an authority that signs artifacts, and a verifier that trusts it.
struct Fixtures {
    let authority: TestAuthority
    let verifier: AppStoreVerifier
    let now = Date()

    init() throws {
        authority = try TestAuthority()
        let anchors = try authority.anchors
        verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134),
            trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
    }

    func ratio(_ name: String) throws -> Ratio {
        switch name {
        case "jws-verify-warm":
            let jws = try JWSMinter(authority: authority, signedAt: now).mint(.appTransaction)
            let floor = try SignedBytes(jws: jws)
            print("\(name): a JWS of \(jws.count) bytes")
            return Ratio(
                name: name, goal: "<=1.2",
                work: { keep(try verifier.verifyAppTransaction(jws, now: now)) }, floor: floor.hashAndVerify,
                repetitions: 1000, floorRepetitions: 1000)
        case "receipt-verify-small": return try receipt(name, purchases: 1, goal: "<=6")
        case "receipt-verify-large": return try receipt(name, purchases: 187, goal: "<=30")
        case "receipt-growth":
            // One receipt with 748 purchases against four with 187. A ratio of 1 means that the time grows linearly.
            let small = try mintReceipt(purchases: 187)
            let large = try mintReceipt(purchases: 748)
            return Ratio(
                name: name, goal: "<=1.1",
                work: { keep(try verifier.verifyReceipt(large, now: now)) },
                floor: { for _ in 0..<4 { keep(try verifier.verifyReceipt(small, now: now)) } },
                repetitions: 50, floorRepetitions: 50)
        case "json-escaped-names":
            // The parser compares all names of an object. Decoding escaped names for each comparison would be slow.
            let plain = String(repeating: "a", count: 60)
            let escaped = Self.object { "\(plain)\\n\($0)" }
            let same = Self.object { "\(plain)bn\($0)" }
            return Ratio(
                name: name, goal: "<=8", work: { keep(try JSONValue(parsing: escaped)) },
                floor: { keep(try JSONValue(parsing: same)) }, repetitions: 1000, floorRepetitions: 1000)
        default: return try decision(name)
        }
    }

    /// A JSON object with 48 members, the most for which the parser compares names in pairs.
    private static func object(_ name: (Int) -> String) -> [UInt8] {
        Array("{\((0..<48).map { "\"\(name($0))\":0" }.joined(separator: ","))}".utf8)
    }

    private func receipt(_ name: String, purchases: Int, goal: String) throws -> Ratio {
        let receipt = try mintReceipt(purchases: purchases)
        let floor = try RSAFloor()
        print("\(name): a receipt of \(receipt.count) bytes, \(purchases) purchases")
        return Ratio(
            name: name, goal: goal, work: { keep(try verifier.verifyReceipt(receipt, now: now)) }, floor: floor.verify,
            repetitions: purchases > 1 ? 200 : 1000, floorRepetitions: 2000)
    }

    private func mintReceipt(purchases: Int) throws -> [UInt8] {
        let minter = ReceiptMinter(authority: authority, signedAt: now)
        return try minter.mint { draft in
            draft.purchases = (0..<purchases).map {
                minter.subscriptionPeriod($0, from: now.addingTimeInterval(-400 * 86_400), length: 30 * 86_400)
            }
        }
    }

    /// The ratio of one call of `decide`: a customer with five purchases, and a policy with four entitlements and three
    /// eras. The floor is one verification of a P-256 signature.
    private func decision(_ name: String) throws -> Ratio {
        let minter = JWSMinter(authority: authority, signedAt: now)
        var artifacts: [VerifiedArtifact] = [
            .appTransaction(
                try verifier.verifyAppTransaction(
                    minter.mint(
                        .appTransaction,
                        setting: [
                            "originalApplicationVersion": .string("37"),
                            "originalPurchaseDate": .instant(Self.day("2013-10-01")),
                            "originalPlatform": .string("iOS"),
                        ]), now: now))
        ]
        let purchases = [
            ("yearly", "Auto-Renewable Subscription", "2014-07-01"),
            ("yearly", "Auto-Renewable Subscription", "2015-07-01"),
            ("yearly", "Auto-Renewable Subscription", "2016-07-01"), ("season", "Non-Renewing Subscription", ""),
            ("coins", "Consumable", ""),
        ]
        for (index, (product, type, expires)) in purchases.enumerated() {
            let fields: [String: JSONValue] = [
                "transactionId": .string("41000000000\(index)"),
                "originalTransactionId": .string("41000000000\(index)"),
                "productId": .string("com.example.calculator.\(product)"), "type": .string(type),
                "purchaseDate": .instant(Self.day("2014-07-01")),
                "expiresDate": expires.isEmpty ? .null : .instant(Self.day(expires)),
            ]
            artifacts.append(
                .transaction(try verifier.verifyTransaction(minter.mint(.transaction, setting: fields), now: now)))
        }
        let evidence = try Evidence(in: .production, from: artifacts, purchasesAreComplete: true)
        let policy = try Self.policy()
        let present = Self.day("2015-07-01")
        let floor = try SignedBytes(jws: minter.mint(.appTransaction))
        let digest = SHA256.hash(data: floor.bytes)
        return Ratio(
            name: name, goal: "<=0.05", work: { keep(decide(evidence, under: policy, at: present)) },
            floor: { floor.verify(digest) }, repetitions: 20_000, floorRepetitions: 1000)
    }

    private static func day(_ text: String) -> Date { CivilDay(text)?.midnight ?? .distantPast }

    static func policy() throws -> Policy {
        func id(_ name: String) -> String { "com.example.calculator.\(name)" }
        return try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "promo", model: .free, begins: [.iOS: .at(version: nil, date: day("2013-12-24"))],
                    changeover: .noWindow),
                Era(
                    name: "freemium", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion("120"), date: day("2015-06-10")),
                        .macOS: .at(version: AppVersion("2.0"), date: day("2015-06-12")),
                    ], changeover: .window(from: -86_400, until: 172_800)),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: id("everything")), .init(id: id("yearly"))],
                    honors: [Honor(era: "paid")]),
                Entitlement(
                    name: "cloud", products: [.init(id: id("yearly"))],
                    honors: [Honor(era: "paid", boughtSince: day("2013-06-10"), length: CalendarPeriod(months: 12))]),
                Entitlement(
                    name: "themes",
                    products: [.init(id: id("themes")), .init(id: id("season"), length: CalendarPeriod(months: 3))],
                    honors: [Honor(era: "paid"), Honor(era: "promo")]),
                Entitlement(name: "printing", products: [.init(id: id("printing"))]),
            ])
    }
}
