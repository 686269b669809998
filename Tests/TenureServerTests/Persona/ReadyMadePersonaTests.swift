import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `ready-made personas` {
    @Test func `ready-made personas cover every kind of customer that a change affects`() async throws {
        try await withAdminClient { admin, _ in
            let answer = try await admin.post("/v1/admin/personas/ready-made", [:])
            #expect(answer.status == .ok, "\(answer.text)")
            let outcomes = Dictionary(
                uniqueKeysWithValues: answer.personas.map {
                    ($0["name"] as? String ?? "", ($0["entitlements"] as? [String: String])?["everything"] ?? "")
                })
            #expect(
                outcomes == [
                    "first-buyer": "granted", "last-paid-build": "granted", "in-the-changeover": "granted",
                    "after-the-change": "denied", "family-member": "denied", "refunded": "denied",
                    "pre-order": "denied", "no-original-version": "granted", "mac-buyer-on-iphone": "granted",
                ])
            #expect((answer.json["omitted"] as? [Any])?.isEmpty == true)
            // A build under test gets the decisions that the list reported.
            for persona in answer.personas {
                let name = persona["name"] as? String ?? ""
                let met = try await admin.sandboxed(as: try #require(persona["token"] as? String))
                #expect(met.everything.outcome == outcomes[name] && met.persona == name, "\(name)")
            }
            let again = try await admin.post("/v1/admin/personas/ready-made", [:])
            #expect(again.problem?.reason == "nameTaken")
            #expect(try await admin.post("/v1/admin/personas/ready-made", ["replace": true]).status == .ok)
        }
    }

    @Test func `ready-made personas are for the platform in the request`() async throws {
        try await withAdminClient { admin, _ in
            let answer = try await admin.post("/v1/admin/personas/ready-made", ["platform": "macOS"])
            #expect(answer.status == .ok, "\(answer.text)")
            let last = answer.personas.first { $0["name"] as? String == "last-paid-build" }?["set"] as? [String: String]
            #expect(last?["originalPlatform"] == "macOS" && last?["originalAppVersion"] == "1.9")
            let unknown = try await admin.post("/v1/admin/personas/ready-made", ["platform": "OS/2"])
            #expect(unknown.problem?.code == .malformedRequest)
            #expect(unknown.problem?.detail.contains("unknown `platform` `OS/2`; use one of iOS, macOS") == true)
        }
    }

    @Test func `ready-made personas have versions and dates around the policy's boundaries`() throws {
        let made = ReadyMadePersonas(try Calculator.policy(), on: .iOS, signed: Calculator.now).personas
        func settings(_ name: String) -> [String: String] {
            Dictionary(uniqueKeysWithValues: made.first { $0.name == name }?.proof.settings ?? [])
        }
        // Without a release list, the first buyer came a year before the first change.
        #expect(
            settings("first-buyer") == [
                "originalPlatform": "iOS", "originalAppVersion": "1", "originalPurchaseDate": "2014-06-10T18:00:00Z",
            ])
        #expect(
            settings("last-paid-build") == [
                "originalPlatform": "iOS", "originalAppVersion": "119", "originalPurchaseDate": "2015-06-08T18:00:00Z",
            ])
        #expect(settings("in-the-changeover")["originalPurchaseDate"] == "2015-06-10T18:00:00Z")
        #expect(
            settings("after-the-change") == [
                "originalPlatform": "iOS", "originalAppVersion": "120", "originalPurchaseDate": "2015-06-13T18:00:00Z",
            ])
        #expect(settings("mac-buyer-on-iphone")["originalAppVersion"] == "1.9")
        #expect(settings("mac-buyer-on-iphone")["originalPlatform"] == "macOS")
        #expect(settings("no-original-version") == ["originalPurchaseDate": "2015-06-08T18:00:00Z"])
        #expect(settings("pre-order")["preorderDate"] == "2015-06-08T18:00:00Z")
        #expect(settings("refunded")["revocationDate"] == "2015-06-22T18:00:00Z")
    }

    @Test func `ready-made personas around a short era have versions and dates inside that era`() throws {
        let begin = Date(timeIntervalSince1970: 1_500_000_000)
        func era(_ name: String, _ model: Era.Model, _ version: String, after hours: Double) -> Era {
            Era(
                name: name, model: model,
                begins: [.iOS: .at(version: AppVersion(version), date: begin.addingTimeInterval(hours * 3600))],
                changeover: .noWindow)
        }
        let policy = try Policy(
            app: .init(bundleID: "com.example.calculator"),
            eras: [
                Era(name: "early", model: .free), era("paid", .paid, "100.5", after: 0),
                era("free", .free, "101", after: 6), era("late", .paid, "200", after: 12),
            ],
            buildNumbers: .increasing,
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
        let change = try #require(PolicyChange(of: policy, on: .iOS))
        #expect(change.era.name == "paid" && change.versionBefore == "100.5")
        #expect(change.dateBefore == begin.addingTimeInterval(3 * 3600))
        #expect(change.dateAfter == begin.addingTimeInterval(9 * 3600))
        for persona in ReadyMadePersonas(policy, on: .iOS, signed: Calculator.now).personas
        where ["last-paid-build", "after-the-change"].contains(persona.name) {
            let evidence = Evidence(
                environment: .sandbox, app: [persona.proof], purchasesAreComplete: true,
                persona: TenureCore.Persona(name: persona.name, proof: persona.proof))
            let outcome = decide(evidence, under: policy, at: Calculator.now).first?.outcome
            #expect(outcome == (persona.name == "last-paid-build" ? .granted : .denied), "\(persona.name)")
        }
    }

    @Test func `ready-made personas have the last build before a boundary in the release list`() throws {
        let usual = try Calculator.policy()
        func release(_ build: String, _ day: String) throws -> Release {
            Release(
                platform: .iOS, version: nil, build: AppVersion(build),
                releasedAt: .instant(try #require(Date(written: day))))
        }
        let policy = try Policy(
            app: usual.app, eras: usual.eras,
            releases: [
                release("3", "2012-01-01"), release("97", "2014-01-01"), release("120", "2015-06-10T18:00:00Z"),
            ], entitlements: usual.entitlements)
        let made = ReadyMadePersonas(policy, on: .iOS, signed: Calculator.now).personas
        #expect(made.first { $0.name == "last-paid-build" }?.proof.originalAppVersion == "97")
        #expect(made.first { $0.name == "first-buyer" }?.proof.originalAppVersion == "3")
        #expect(made.first { $0.name == "first-buyer" }?.proof.originalPurchaseDate == Date(written: "2012-01-01"))
    }

    @Test func `a ready-made persona is omitted, with a reason, if the policy has no such customers`() throws {
        let one = try Policy(
            app: .init(bundleID: "com.example.calculator"), eras: [Era(name: "free", model: .free)],
            entitlements: [Entitlement(name: "everything", products: [.init(id: "com.example.calculator.everything")])])
        let none = ReadyMadePersonas(one, on: .iOS, signed: Calculator.now)
        #expect(none.personas.isEmpty && none.omittedPersonas.count == ReadyMadePersonas.Name.allCases.count)

        let undated = try Policy(
            app: .init(bundleID: "com.example.calculator"),
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "free", model: .free, begins: [.macOS: .at(version: AppVersion("2.0"), date: nil)]),
            ],
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
        #expect(ReadyMadePersonas.platform(of: undated) == .macOS)
        let some = ReadyMadePersonas(undated, on: .macOS, signed: Calculator.now)
        #expect(
            some.personas.map(\.name) == [
                "first-buyer", "last-paid-build", "after-the-change", "family-member", "refunded",
            ])
        let omitted = ["in-the-changeover", "pre-order", "no-original-version", "mac-buyer-on-iphone"]
        #expect(some.omittedPersonas.map(\.name) == omitted)
        #expect(some.omittedPersonas.allSatisfy { !$0.why.isEmpty })
    }

    @Test(arguments: [
        ("120", "119"), ("2.0", "1.9"), ("2.1", "2.0"), ("1.0.5", "1.0.4"), ("1", "0"), ("10.0.0", "9.9.9"),
    ])
    func `a ready-made persona before a boundary has the version just below the boundary`(
        version: String, before: String
    ) throws {
        #expect(PolicyChange.predecessor(of: try #require(AppVersion(version))) == before)
    }

    @Test func `no ready-made persona has a version below 0.0`() throws {
        #expect(PolicyChange.predecessor(of: try #require(AppVersion("0.0"))) == nil)
    }
}
