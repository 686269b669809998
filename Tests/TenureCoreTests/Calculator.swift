import Foundation
import Testing

@testable import TenureCore

/// The invented app of the decision cases, and functions that create its customers.
enum Calculator {
    static let iOSChange = date("2015-06-10T18:00:00Z")
    static let macChange = date("2015-06-12T18:00:00Z")
    static let now = date("2015-07-01")
    static let all = "com.example.calculator.everything"
    static let yearly = "com.example.calculator.yearly"

    static func policy(
        eras: [Era]? = nil,
        buildNumbers: Policy.BuildNumbers? = .increasing,
        releases: [Release] = [],
        honors: [Honor]? = [Honor(era: "paid")],
        inDoubt: Policy.InDoubt = .favorCustomer,
        testEnvironments: Policy.TestEnvironments = .newCustomer
    ) throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: eras ?? [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion("120"), date: iOSChange),
                        .macOS: .at(version: AppVersion("2.0"), date: macChange),
                    ],
                    changeover: .window(from: -24 * 3600, until: 48 * 3600)),
            ],
            buildNumbers: buildNumbers,
            releases: releases,
            entitlements: [
                Entitlement(name: "everything", products: [.init(id: all), .init(id: yearly)], honors: honors)
            ],
            inDoubt: inDoubt,
            testEnvironments: testEnvironments
        )
    }

    static func app(
        _ version: String?, _ bought: String?, platform: Platform? = .iOS, signed: String = "2015-06-30",
        id: AcquisitionID? = .appTransaction("700000000000001"), kind: AppProof.Kind = .appTransaction,
        revoked: String? = nil, expires: String? = nil
    ) -> AppProof {
        AppProof(
            kind: kind, signedDate: date(signed), id: id, originalPlatform: platform, originalAppVersion: version,
            originalPurchaseDate: bought.map(date), revocationDate: revoked.map(date),
            expirationDate: expires.map(date))
    }

    static func evidence(
        _ proofs: [AppProof], transactions: [Purchase] = [], renewals: [Renewal] = [], complete: Bool = true,
        environment: AppStoreEnvironment = .production, support: [SupportGrant] = [], persona: Persona? = nil
    ) -> Evidence {
        Evidence(
            environment: environment, app: proofs, transactions: transactions, renewals: renewals,
            purchasesAreComplete: complete, support: support, persona: persona)
    }

    /// The decision on `everything`.
    static func decide(
        _ evidence: Evidence, promises: [Promise] = [], under policy: Policy, at now: Date = now
    ) throws -> Decision {
        try #require(TenureCore.decide(evidence, promises: promises, under: policy, at: now).first)
    }
}

/// Reads `2015-06-10`, or `2015-06-10T18:00:00Z`; tests write only such dates.
func date(_ text: String) -> Date {
    let day = CivilDay(String(text.prefix(10)))?.midnight ?? .distantPast
    guard text.count == 20 else { return day }
    let time = text.dropFirst(11).dropLast().split(separator: ":").compactMap { Double($0) }
    return day.addingTimeInterval(time[0] * 3600 + time[1] * 60 + time[2])
}
