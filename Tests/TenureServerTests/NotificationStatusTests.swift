import ExpectedRejections
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// Apple sends a notification again after a status other than 200 to 206, and may stop permanently below 500.
@Suite struct `the response to a notification` {
    private static func jws(_ minter: JWSMinter = Calculator.minter()) throws -> String {
        try minter.notification("TEST", uuid: UUID().uuidString)
    }

    private func problem(
        _ jws: String, _ change: (inout ServiceConfiguration) throws -> Void = { _ in }
    ) async throws -> Problem {
        try await withService(change) { client in try client.problem(try await client.notify(jws)) }
    }

    @Test(arguments: JWSDefect.allCases.filter { $0.kinds.contains(.notification) && $0.rejection == nil })
    func `an unusual but valid notification is accepted`(defect: JWSDefect) async throws {
        let jws = String(decoding: try Calculator.minter().mint(.notification, with: defect), as: UTF8.self)
        try await withService { client in
            let response = try await client.notify(jws)
            #expect(response.status == .ok, "\(String(buffer: response.body))")
        }
    }

    @Test(arguments: JWSDefect.allCases.filter { $0.kinds.contains(.notification) && $0.rejection != nil })
    func `a notification that fails verification is refused, and creates no customer`(defect: JWSDefect)
        async throws
    {
        let jws = String(decoding: try Calculator.minter().mint(.notification, with: defect), as: UTF8.self)
        try await withServiceTestBed { testBed in
            let problem = try testBed.client.problem(try await testBed.client.notify(jws))
            #expect([.nothingVerified, .malformedRequest, .misconfigured, .tooLarge].contains(problem.code))
            #expect(try await testBed.service.store.read { try $0.customers(after: 0, limit: 9) }.isEmpty)
        }
    }

    @Test func `the response to a notification that is forged or for another app is a permanent error`() async throws {
        let forger = try TestAuthority()
        let forged = try Self.jws(JWSMinter(authority: forger, signedAt: Calculator.now))
        let foreign = try Self.jws(Calculator.minter(bundleID: "com.example.abacus"))
        for (jws, code) in [(forged, "untrustedChain"), (foreign, "wrongApp")] {
            let problem = try await problem(jws)
            #expect(problem.code == .nothingVerified)
            #expect(problem.problems.map(\.code) == [code])
        }
    }

    @Test func `the response to a notification with another app's or environment's transaction is a permanent error`()
        async throws
    {
        let theirs = SimulatedPurchase(
            id: "1", original: "1", product: Calculator.everything, type: .nonConsumable, purchased: Calculator.now)
        for minter in [Calculator.minter(bundleID: "com.example.abacus"), Calculator.minter(.sandbox)] {
            let jws = try Calculator.minter().notification(
                "ONE_TIME_CHARGE", uuid: "u", data: ["signedTransactionInfo": try minter.nested(theirs)])
            try await withServiceTestBed { testBed in
                let problem = try testBed.client.problem(try await testBed.client.notify(jws))
                #expect(problem.code == .nothingVerified)
                let customer = try await testBed.customer("1")
                #expect(customer == nil)
            }
        }
    }

    @Test func `the App Store is asked to repeat a notification if the service's clock is behind`() async throws {
        let jws = try Self.jws(Calculator.minter(signed: Calculator.now.addingTimeInterval(86_400)))
        #expect(try await problem(jws).code == .misconfigured)
    }

    @Test func `the App Store is asked to repeat a notification if the service has another Apple ID`() async throws {
        let problem = try await problem(Self.jws()) {
            $0.app = AppIdentity(bundleID: "com.example.calculator", appAppleID: 1)
        }
        #expect(problem.code == .misconfigured)
        #expect(problem.detail.contains("Apple ID"))
    }

    @Test func `the App Store is asked to repeat a notification if its environment isn't accepted`() async throws {
        let problem = try await problem(Self.jws()) { $0.anchors[.production] = nil }
        #expect(problem.code == .misconfigured)
        // Notifications that aren't about a purchase have their environment in another part.
        var summary = JSONObject()
        for (name, value) in [("environment", "Production"), ("bundleId", "com.example.calculator")] {
            summary[name] = .string(value)
        }
        summary["appAppleId"] = .integer(828_838_134)
        let extended = try Calculator.minter().notification(
            "RENEWAL_EXTENSION", "SUMMARY", uuid: "u2", part: "summary", summary)
        let refused = try await self.problem(extended) { $0.anchors[.production] = nil }
        #expect(refused.code == .misconfigured && refused.detail.contains("`environments`"), "\(refused)")
    }

    @Test func `the App Store is asked to repeat a notification if too many unknown signers delay its verification`()
        async throws
    {
        // The budget for checking unknown signers is empty, so a genuine new signer is refused, too.
        let sound = Array(try Self.jws().utf8)
        try await withServiceTestBed { testBed in
            let cache = ChainCache(
                trust: try TrustConfiguration(anchors: testBed.service.configuration.anchors),
                budget: ChainCache.Budget(burst: 0, perSecond: 0))
            let service = NotificationService(
                verifier: AppStoreVerifier(app: testBed.service.configuration.app, cache: cache),
                store: testBed.service.store, policies: testBed.service.policies, entitlementComparer: nil,
                metrics: ServiceMetrics())
            let problem = await #expect(throws: Problem.self) {
                try await service.receive(sound, now: Calculator.now, logger: Calculator.logger)
            }
            #expect(problem?.code == .tooManyUnknownSigners)
            #expect(problem?.code.status == 503)
        }
    }

    @Test func `the App Store is asked to repeat a notification if the database doesn't respond`() async throws {
        let jws = try Self.jws()
        try await withServiceTestBed { testBed in
            try await testBed.service.store.close()
            let response = try await testBed.client.notify(jws)
            #expect(response.status.code >= 500)
        }
    }

    @Test(arguments: [
        ("{", "invalid JSON"), ("[]", "must be a JSON object"), ("{}", "`signedPayload` is missing"),
        (#"{"signedPayload":7}"#, "must be a JSON object"),
        (#"{"notification_type":"DID_RENEW","password":"x"}"#, "version 1"), ("", "invalid JSON"),
    ])
    func `the response to a body without a signed notification is an error that says what is wrong`(
        body: String, word: String
    ) async throws {
        try await withService { client in
            let problem = try client.problem(try await client.notify(body: body))
            #expect(problem.code == .malformedRequest)
            #expect(problem.detail.contains(word), "\(problem.detail)")
        }
    }

    @Test func `the response to a notification that is too large or isn't JSON is an error`() async throws {
        try await withService { client in
            let large = #"{"signedPayload":"\#(String(repeating: "A", count: 600_000))"}"#
            #expect(try client.problem(try await client.notify(body: large)).code == .tooLarge)
            // At most 512 KB are accepted.
            for (size, code) in [(524_288, Problem.Code.nothingVerified), (524_289, .tooLarge)] {
                let payload = String(repeating: "A", count: size - 20)
                let response = try await client.notify(body: #"{"signedPayload":"\#(payload)"}"#)
                #expect(try client.problem(response).code == code)
            }
            // The media type is read leniently, because Apple can't correct a request.
            let typed = try await client.notify(body: "{}", type: "application/json,charset=utf-8")
            #expect(try client.problem(typed).code == .malformedRequest)
            let text = try await client.notify(body: "{}", type: "text/plain")
            #expect(try client.problem(text).code == .unsupportedMediaType)
            let wide = try await client.notify(String(repeating: "A", count: 300_000))
            #expect(try client.problem(wide).problems.map(\.code) == ["tooLarge"])
        }
    }
}
