import Foundation
import TenureCore
import TenureHTTP
import TenurePolicyFile
import Testing

@testable import Tenure

/// A web server with responses that a test chooses.
private final class FakeWeb: Transport {
    private let state: Locked<(answer: Result<TransportResponse, TransportFailure>, asked: [String?])>

    init(_ answer: Result<TransportResponse, TransportFailure>) {
        state = Locked((answer, []))
    }

    convenience init(_ signed: SignedPolicy, tag: String? = nil) {
        let headers = tag.map { ["ETag": $0] } ?? [:]
        self.init(.success(TransportResponse(status: 200, headers: headers, body: Data(signed.text.utf8))))
    }

    static func withoutPolicy() -> FakeWeb { FakeWeb(.success(TransportResponse(status: 404, body: Data()))) }
    static func unreachable() -> FakeWeb { FakeWeb(.failure(.connection(URLError(.notConnectedToInternet)))) }

    func serve(_ signed: SignedPolicy) {
        state.withLock {
            $0.answer = .success(TransportResponse(status: 200, body: Data(signed.text.utf8)))
        }
    }
    var asked: [String?] { state.withLock { $0.asked } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let answer = state.withLock { state in
            state.asked.append(request.headers["If-None-Match"])
            return state.answer
        }
        return try answer.get()
    }
}

@Suite struct `A signed policy in the client` {
    private let signer = PolicySigner()
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "tenure-fed-\(UUID().uuidString)")

    /// A policy with its boundary at `build`. The owner's build 37 is paid if the boundary is higher.
    private func policy(build: String, bundleID: String = InventedApp.bundleID) throws -> Policy {
        let base = InventedApp.policy()
        return try Policy(
            app: Policy.App(bundleID: bundleID, appleID: base.app.appleID),
            eras: [
                base.eras[0],
                Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion(build), date: nil)]),
            ],
            buildNumbers: .increasing, entitlements: base.entitlements)
    }

    private func device(_ web: FakeWeb, app: AppStoreAppTransaction? = InventedApp.owner()) throws -> Device {
        let bundled = Data(PolicyFile.compile(try policy(build: "30")))
        let url = try #require(URL(string: "https://www.example.com/tenure.jws"))
        let (folder, pin) = (folder, signer.pin.text)
        return Device(FakeStore { $0.app = app }) { setup in
            setup.options.folder = folder
            setup.policy = .signed(url, keys: [pin], transport: web) { bundled }
        }
    }

    @Test func `a policy from the web server corrects the bundled policy, even at the next start offline`() async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let web = FakeWeb(try signer.sign(policy(build: "120"), counter: 2), tag: "\"two\"")
        let tenure = try device(web).start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.settled().steps.contains(Tenure.AppStoreStep(name: .policy, outcome: .done)))

        let offline = FakeWeb.unreachable()
        let again = try device(offline).start()
        #expect(await again.allows("everything"))
        _ = await again.settled()
        #expect(offline.asked == ["\"two\""])
    }

    @Test func `the bundled policy applies while the web server of a signed policy is down`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let tenure = try device(FakeWeb.withoutPolicy()).start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.decision(for: "everything").outcome == .denied)
        let steps = await tenure.settled().steps
        #expect(steps.contains { $0.name == .policy && $0.description.contains("status 404") })
    }

    @Test
    func `an entitlement denied under an earlier policy is allowed while it is undetermined under a newer policy`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let web = FakeWeb.withoutPolicy()
        let device = try device(web, app: InventedApp.newcomer())
        #expect(await device.start().settled().answers["everything"]?.outcome == .denied)
        device.store.change { $0.transactionsBehavior = .throwsAnError }
        #expect(await !device.start().settled().allows("everything"), "a known denial")
        web.serve(try signer.sign(policy(build: "120"), counter: 2))
        let customer = await device.start().settled()
        #expect(customer.answers["everything"]?.outcome == .undetermined)
        #expect(customer.allows("everything"))
    }

    @Test func `a replayed older policy is refused, and the client's list of steps has the reason`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let web = FakeWeb(try signer.sign(policy(build: "120"), counter: 2))
        #expect(await (try device(web).start()).allows("everything"))
        web.serve(try signer.sign(policy(build: "30"), counter: 1))
        let tenure = try device(web).start()
        #expect(await tenure.allows("everything"))
        let steps = await tenure.settled().steps
        let reason = "the counter 1, which is lower than the known counter 2"
        #expect(steps.contains { $0.name == .policy && $0.description.contains(reason) })
    }

    @Test func `a policy that a proxy signed with another key is ignored`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let forged = try PolicySigner().sign(policy(build: "9999"), counter: 9)
        let tenure = try device(FakeWeb(forged), app: InventedApp.newcomer()).start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.settled().steps.contains { $0.description.contains("none of the pinned keys") })
    }

    @Test func `another app's signed policy is refused, and its counter isn't kept`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = try signer.sign(policy(build: "120", bundleID: "com.example.planner"), counter: 9)
        let web = FakeWeb(other)
        let tenure = try device(web).start()
        #expect(await tenure.decision(for: "everything").outcome == .denied)
        let customer = await tenure.settled()
        #expect(customer.policyError == nil)
        let isNamed = customer.steps.contains {
            $0.name == .policy && $0.description.contains("`com.example.planner`")
        }
        #expect(isNamed)
        // This app's own policy is used, although its counter is lower.
        web.serve(try signer.sign(policy(build: "120"), counter: 2))
        #expect(await tenure.refresh().has("everything"))
    }

    @Test func `an invalid key and an invalid bundled policy are reported`() async throws {
        let url = try #require(URL(string: "https://www.example.com/tenure.jws"))
        let sources: [Tenure.PolicySource] = [
            .signed(url, keys: ["no key"]) { Data() }, .signed(url, keys: [signer.pin.text]) { Data("{}".utf8) },
            .signed(url, key: signer.pin.text, bundled: "no-such-file.jws"),
        ]
        for source in sources {
            let tenure = Device(FakeStore { $0.app = InventedApp.owner() }) { $0.policy = source }.start()
            let steps = await tenure.settled().steps
            #expect(steps.contains { if case .failed = $0.outcome { $0.name == .policy } else { false } })
            #expect(await tenure.decision(for: "everything").outcome == .undetermined)
        }
    }

    @Test func `one invalid key beside a valid key is reported by its text`() async throws {
        let url = try #require(URL(string: "https://www.example.com/tenure.jws"))
        let source = Tenure.PolicySource.signed(url, keys: [signer.pin.text, "no key"]) { Data() }
        let customer = await Device(FakeStore { $0.app = InventedApp.owner() }) { $0.policy = source }.start().settled()
        #expect(customer.policyError == .policy(.source("`no key` isn't a policy signing key")))
    }

    @Test func `after the policy's web server didn't respond, the client requests the policy again and uses it`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let web = FakeWeb.unreachable()
        let tenure = try device(web).start()
        #expect(await tenure.decision(for: "everything").outcome == .denied)
        web.serve(try signer.sign(policy(build: "120"), counter: 2))
        await tenure.engine.search()
        #expect(web.asked.count == 2)
        #expect(await tenure.allows("everything"))
    }

    @Test func `a policy's web server is asked again after 23 hours, and not before`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let web = FakeWeb.withoutPolicy()
        let device = try device(web)
        let tenure = device.start()
        _ = await tenure.settled()
        for (seconds, requests) in [(82_799.0, 1), (82_800, 2), (165_599, 2), (165_600, 3)] {
            device.time.now = InventedApp.now.addingTimeInterval(seconds)
            await tenure.engine.search()
            #expect(web.asked.count == requests, "after \(seconds) seconds")
        }
    }

    @Test(arguments: [(404, 1), (407, 1), (408, 2), (409, 1), (428, 1), (429, 2), (430, 1), (499, 1), (500, 2)])
    func `the next search asks a policy's web server again only after a temporary failure`(
        status: Int, requests: Int
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let web = FakeWeb(.success(TransportResponse(status: status, body: Data())))
        let tenure = try device(web).start()
        _ = await tenure.settled()
        await tenure.engine.search()
        #expect(web.asked.count == requests)
    }

    @Test(arguments: [(256, true), (257, false)])
    func `the ETag of a policy's web server is kept for the next start if it has at most 256 bytes`(
        size: Int, isKept: Bool
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let tag = String(repeating: "t", count: size)
        let first = try device(FakeWeb(try signer.sign(policy(build: "120"), counter: 2), tag: tag)).start()
        _ = await first.settled()
        let offline = FakeWeb.unreachable()
        let second = try device(offline).start()
        _ = await second.settled()
        #expect(offline.asked == [isKept ? tag : nil])
        #expect(await second.allows("everything"))
    }
}
