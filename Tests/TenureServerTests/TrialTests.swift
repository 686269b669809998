import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `trials` {
    private static func policy(_ trial: Trial? = .sessions(3)) throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: Date(timeIntervalSince1970: 1_433_959_200))],
                    changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: Calculator.everything)], honors: [Honor(era: "paid")],
                    trial: trial),
                Entitlement(name: "cloud", products: [.init(id: Calculator.yearly)]),
            ])
    }

    private static func newcomer(_ id: String = "704000000000000002") throws -> SyncRequest {
        SyncRequest(appTransaction: try Calculator.minter().newcomer(id))
    }

    @Test func `sessions of a trial count down to zero, and then the trial is over`() async throws {
        try await withService(policy: try Self.policy()) { client in
            let token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            for left in [2, 1, 0] {
                let trial = try await client.beginSession("s\(left)", token: token)
                #expect(trial.sessions == 3 && trial.sessionsLeft == left && !trial.isOwner)
                #expect(trial.ends == Calculator.now.addingTimeInterval(86_400))
            }
            // The response was lost, so the app sends the same session again.
            #expect(try await client.beginSession("s0", token: token).sessionsLeft == 0)
            let problem = try client.problem(try await client.postSession("s9", token: token))
            #expect(problem.code == .trialOver && problem.code.status == 403)
            #expect(problem.trial == TrialResponse(entitlement: "everything", sessions: 3, sessionsLeft: 0))
        }
    }

    @Test func `a trial that was used up on one device is over on the customer's other devices`() async throws {
        try await withService(policy: try Self.policy(.sessions(1))) { client in
            let token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            _ = try await client.beginSession("a", token: token)
            let device = UUID()
            let again = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter(device: device).newcomer()), from: device)
            let other = try #require(again.accessToken).value
            #expect(try client.problem(try await client.postSession("b", token: other)).code == .trialOver)
        }
    }

    @Test func `a customer who owns the entitlement uses up no trial session`() async throws {
        try await withService(policy: try Self.policy()) { client in
            let owner = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            let token = try #require(owner.accessToken).value
            for _ in 0..<5 {
                let trial = try await client.beginSession(UUID().uuidString, token: token)
                #expect(trial == TrialResponse(entitlement: "everything", isOwner: true))
            }
        }
    }

    @Test func `an access token from an unbound sync can't begin a trial session`() async throws {
        try await withService(policy: try Self.policy()) { client in
            let found = try await client.sync(try Self.newcomer(), from: nil)
            let token = try #require(found.accessToken).value
            #expect(try client.problem(try await client.postSession("x", token: token)).code == .notBound)
            let theirs = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            #expect(try await client.beginSession("a", token: theirs).sessionsLeft == 2)
        }
    }

    @Test func `a trial of seven days ends seven days after its first session`() async throws {
        let clock = TestClock(Calculator.now)
        try await withServiceTestBed(policy: try Self.policy(.days(7)), { $0.now = { clock.now } }) { testBed in
            let client = testBed.client
            let end = Calculator.now.addingTimeInterval(7 * 86_400)
            var token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            #expect(try await client.beginSession("a", token: token).ends == end)
            clock.advance(by: 7 * 86_400 - 1)
            token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            let trial = try await client.beginSession("b", token: token)
            #expect(trial == TrialResponse(entitlement: "everything", ends: end))
            clock.advance(by: 1)
            let problem = try client.problem(try await client.postSession("c", token: token))
            #expect(problem.code == .trialOver && problem.trial?.ends == end)
            // A client could fill the database if rejected sessions were stored.
            let id = try await client.customer(token).id
            let customer = try #require(try await testBed.service.store.read { try $0.customer(named: id) })
            let begun = try await testBed.service.store.read { try $0.begunSessions(of: customer.id) }
            #expect(begun["everything"]?.latest == Calculator.now)
        }
    }

    @Test func `a trial session ends after a day, so that one session can't extend the trial`() async throws {
        let clock = TestClock(Calculator.now)
        try await withService(policy: try Self.policy(), { $0.now = { clock.now } }) { client in
            var token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            _ = try await client.beginSession("a", token: token)
            clock.advance(by: 86_400)
            token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            let problem = try client.problem(try await client.postSession("a", token: token))
            #expect(problem.code == .trialOver && problem.trial?.sessionsLeft == 2)
            #expect(try await client.beginSession("b", token: token).sessionsLeft == 1)
        }
    }

    @Test func `two processes together never begin more trial sessions than the policy allows`() async throws {
        try await withFolder { folder in
            let policy = try Self.policy(.sessions(5))
            try await withServiceTestBed(in: folder, policy: policy) { one in
                try await withServiceTestBed(in: folder, policy: policy) { two in
                    let token = try #require(try await one.client.sync(try Self.newcomer()).accessToken).value
                    let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
                        for number in 0..<40 {
                            let client = number.isMultiple(of: 2) ? one.client : two.client
                            group.addTask {
                                // A process that waits too long for the other process answers 503, and the client tries
                                // again.
                                while true {
                                    let response = try await client.postSession("s\(number)", token: token)
                                    if response.status != .serviceUnavailable { return response.status == .ok }
                                }
                            }
                        }
                        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                    }
                    #expect(begun == 5)
                }
            }
        }
    }

    @Test func `support sees a customer's trial sessions in the timeline and in the export`() async throws {
        let clock = TestClock(Calculator.now)
        try await withService(policy: try Self.policy()) {
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        } _: { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let customer = try await client.sync(try Self.newcomer())
            for name in ["first", "second"] {
                _ = try await client.beginSession(name, token: try customer.token)
                clock.advance(by: 60)
            }
            let answer = try await admin.get(try customer.path("/export"))
            let data = try #require(answer.json["data"] as? [String: Any])
            #expect(
                data["trialSessions"] as? [[String: String]] == [
                    ["entitlement": "everything", "session": "first", "beganAt": "2026-11-20T12:00:00Z"],
                    ["entitlement": "everything", "session": "second", "beganAt": "2026-11-20T12:01:00Z"],
                ], "\(answer.text)")
            let timeline = try await admin.get(try customer.path("/timeline"))
            let sessions = timeline.entries.filter { $0["kind"] as? String == "trialSession" }
            #expect(sessions.compactMap { $0["at"] as? String } == ["2026-11-20T12:00:00Z", "2026-11-20T12:01:00Z"])
            #expect(sessions.allSatisfy { $0["entitlement"] as? String == "everything" }, "\(timeline.text)")
        }
    }

    @Test func `invalid requests to begin a trial session are refused`() async throws {
        try await withService(policy: try Self.policy()) { client in
            let token = try #require(try await client.sync(try Self.newcomer()).accessToken).value
            #expect(try client.problem(try await client.postSession("a", token: "x")).code == .notAuthenticated)
            for name in ["cloud", "nothing", "a%2Fb"] {
                let response = try await client.postSession("a", of: name, token: token)
                #expect(try client.problem(response).code == .notFound)
            }
            let named = try await client.postSession("a", of: "%00", token: token)
            #expect(try client.problem(named).code == .malformedRequest)
            for id in ["", String(repeating: "x", count: 65), "a\u{0}b", "\u{7F}"] {
                let problem = try client.problem(try await client.postSession(id, token: token))
                #expect(problem.code == .malformedRequest)
            }
            for body in ["", "[]", "{}", #"{"id":5}"#] {
                let response = try await client.postSession(body: body, token: token)
                #expect(try client.problem(response).code == .malformedRequest)
            }
            #expect(try await client.beginSession(String(repeating: "ü", count: 64), token: token).sessionsLeft == 2)
        }
    }
}

extension Client {
    func postSession(_ id: String, of entitlement: String = "everything", token: String) async throws -> TestResponse {
        let body = String(decoding: try JSONEncoder().encode(TrialRequest(id: id)), as: UTF8.self)
        return try await postSession(body: body, of: entitlement, token: token)
    }

    func postSession(
        body: String, of entitlement: String = "everything", token: String
    ) async throws -> TestResponse {
        try await http.execute(
            uri: "/v1/trials/\(entitlement)/sessions", method: .post,
            headers: [.contentType: "application/json", .authorization: "Bearer \(token)"],
            body: ByteBuffer(string: body)
        ) { $0 }
    }

    func beginSession(
        _ id: String, token: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TrialResponse {
        let response = try await postSession(id, token: token)
        #expect(response.status == .ok, "\(String(buffer: response.body))", sourceLocation: sourceLocation)
        return try JSONDecoder().decode(TrialResponse.self, from: Data(buffer: response.body))
    }
}
