import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// Trials of two entitlements and two customers, and the texts of refused sessions.
@Suite struct `limits of trials` {
    private static func policy(_ first: Trial, _ second: Trial? = nil) throws -> Policy {
        let usual = try Calculator.policy()
        return try Policy(
            app: usual.app, eras: usual.eras, buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "everything", products: [.init(id: Calculator.everything)], trial: first),
                Entitlement(name: "the cloud", products: [.init(id: Calculator.yearly)], trial: second),
            ])
    }

    private func token(_ client: Client, _ id: String = "704000000000000002") async throws -> String {
        try await client.sync(SyncRequest(appTransaction: try Calculator.minter().newcomer(id))).token
    }

    private func refusal(
        _ client: Client, _ id: String, of entitlement: String = "everything", token: String
    ) async throws -> Problem {
        try client.problem(try await client.postSession(id, of: entitlement, token: token))
    }

    @Test func `each entitlement and each customer has its own trial sessions, even with equal session IDs`()
        async throws
    {
        try await withService(policy: try Self.policy(.sessions(1), .sessions(2))) { client in
            let (mine, theirs) = (try await token(client), try await token(client, "704000000000000003"))
            #expect(try await client.beginSession("a", token: mine).sessionsLeft == 0)
            let response = try await client.postSession("a", of: "the%20cloud", token: mine)
            #expect(response.status == .ok, "\(String(buffer: response.body))")
            let cloud = try JSONDecoder().decode(TrialResponse.self, from: Data(buffer: response.body))
            #expect(
                cloud
                    == TrialResponse(
                        entitlement: "the cloud", sessions: 2, sessionsLeft: 1,
                        ends: Calculator.now.addingTimeInterval(86_400)))
            let used = try await refusal(client, "b", token: mine)
            #expect(used.code == .trialOver && used.detail == "the trial of `everything` is used up")
            #expect(try await client.beginSession("a", token: theirs).sessionsLeft == 0)
        }
    }

    @Test func `a refused session of a trial says whether the session or the whole trial is over`() async throws {
        let clock = TestClock()
        try await withService(policy: try Self.policy(.sessions(2), .days(1)), { $0.now = { clock.now } }) { client in
            let early = try await token(client)
            #expect(try await client.beginSession("a", token: early).sessionsLeft == 1)
            #expect(try await client.postSession("a", of: "the%20cloud", token: early).status == .ok)
            clock.advance(by: 86_400)
            let late = try await token(client)
            let session = try await refusal(client, "a", token: late)
            #expect(session.detail == "this session is over; begin another session with a new `id`")
            #expect(session.trial?.sessionsLeft == 1)
            let days = try await refusal(client, "b", of: "the%20cloud", token: late)
            #expect(days.code == .trialOver && days.detail == "the trial of `the cloud` is used up")
            #expect(days.trial?.ends == Calculator.now.addingTimeInterval(86_400) && days.trial?.sessions == nil)
            #expect(try await client.beginSession("b", token: late).sessionsLeft == 0)
        }
    }

    @Test func `the ID of a trial session has at most 64 characters and 256 bytes, and refusals say what is wrong`()
        async throws
    {
        try await withService(policy: try Self.policy(.sessions(3))) { client in
            let token = try await token(client)
            let limits = "`id` must have 1 to 64 characters, and no control characters"
            // A flag is one character of eight bytes.
            let refused = ["", String(repeating: "x", count: 65), "a\u{1F}b", String(repeating: "🇩🇪", count: 33)]
            for id in refused {
                let problem = try await refusal(client, id, token: token)
                #expect(problem.code == .malformedRequest && problem.detail == limits, "\(id)")
            }
            let malformed = try client.problem(try await client.postSession(body: #"{"id":5}"#, token: token))
            #expect(malformed.detail == "the body must be a JSON object with a string `id`")
            let noTrial = try await refusal(client, "a", of: "the%20cloud", token: token)
            #expect(noTrial.code == .notFound)
            for (id, left) in [(String(repeating: "🇩🇪", count: 32), 2), (String(repeating: "x", count: 64), 1)] {
                #expect(try await client.beginSession(id, token: token).sessionsLeft == left)
            }
            let found = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000003")), from: nil)
            let unbound = try await refusal(client, "a", token: try found.token)
            #expect(unbound.code == .notBound)
            #expect(
                unbound.detail
                    == "a trial needs proof that is bound to the device; send `deviceVerificationID` with the sync")
        }
    }

    @Test func `the access token of an erased customer begins no trial session`() async throws {
        try await withService(policy: try Self.policy(.sessions(1))) {
            $0.adminKey = AdminClient.adminKey
        } _: { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let newcomer = try await admin.newcomer()
            #expect(try await admin.delete(try newcomer.path()).status == .ok)
            let refused = try await refusal(client, "a", token: try newcomer.token)
            #expect(refused.code == .notAuthenticated)
            #expect(refused.detail == "the access token is missing, invalid or expired; sync again")
        }
    }
}
