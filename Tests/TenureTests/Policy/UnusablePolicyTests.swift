import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(2))) struct `A policy that can't be used` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)

    private func file(_ name: String, _ contents: String?) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent(name)
        if let contents { try Data(contents.utf8).write(to: url) }
        return url
    }

    private func problem(_ source: Tenure.PolicySource) -> Tenure.Error.PolicyProblem? {
        var options = Tenure.Options()
        options.folder = folder.appendingPathComponent("state")
        do throws(Tenure.Error) {
            _ = try Tenure(policy: source, options: options)
            return nil
        } catch {
            if case .policy(let problem) = error { return problem }
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func `the client's initializer throws if the policy is missing, empty, unreadable or not compiled`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(problem(.file(try file("none.json", nil))) == .missing(name: "none.json"))
        #expect(problem(.bundled("none.json")) == .missing(name: "none.json"))
        #expect(problem(.file(try file("empty.json", " \n"))) == .empty(name: "empty.json"))
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("folder.json"), withIntermediateDirectories: true)
        #expect(problem(.file(folder.appendingPathComponent("folder.json"))) == .unreadable(name: "folder.json"))
        let yaml = problem(.file(try file("policy.yaml", "app: { bundleID: com.example.calculator }\n")))
        guard case .invalid(name: "policy.yaml", _) = yaml else {
            Issue.record("\(String(describing: yaml))")
            return
        }
    }

    @Test func `a bundled policy is found in each of the bundle's folders`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let policy = try file("policy.json", "{}")
        let empty = folder.appendingPathComponent("empty")
        for folders in [[empty, folder], [folder, empty]] {
            #expect(try Tenure.PolicySource.find("policy.json", in: folders) == policy)
        }
    }

    @Test func `the client's initializer throws if the policy is for another app`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Ada") { _ in
                let other = try Policy(
                    app: Policy.App(bundleID: "com.example.other"), eras: [Era(name: "paid", model: .paid)],
                    entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
                #expect(
                    throws: Tenure.Error.policy(
                        .otherApp(bundleID: "com.example.other", appBundleID: InventedApp.bundleID))
                ) {
                    try served.start(policy: other)
                }
            }
        }
    }

    @Test func `a policy grants nothing if the app transaction has another app's bundle ID`() async throws {
        let other = try Policy(
            app: Policy.App(bundleID: "com.example.other"), eras: [Era(name: "paid", model: .paid)],
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
        // The process has no bundle ID, so only the app transaction names the app.
        let store = FakeStore {
            $0.app = InventedApp.owner()
            $0.bundleID = nil
        }
        let tenure = Device(store, policy: other).start { $0.options.whileUndetermined = .deny }
        let customer = await tenure.settled()
        #expect(
            customer.policyError
                == .policy(.otherApp(bundleID: "com.example.other", appBundleID: InventedApp.bundleID)))
        #expect(!customer.has("everything"))
        #expect(await !tenure.allows("everything"))
    }

    @Test func `an app with an unusable policy starts, and grants only stored rights`() async throws {
        try await ServedStore.run { served in
            let missing = Tenure.PolicySource.file(served.folder.appendingPathComponent("none.json"))
            try await served.device(of: "Ada") { _ in
                let sound = try served.start(policy: InventedApp.policy())
                #expect(await sound.settled().allows("everything"))
                let tenure = Tenure(policyIfValid: missing, options: served.options())
                #expect(await tenure.allows("everything"))
                #expect(await !tenure.allows("cloud"))
                let customer = await tenure.settled()
                #expect(customer.policyError == .policy(.missing(name: "none.json")))
                #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
                let reasons = await tenure.decision(for: "cloud").reasons
                let detail =
                    "the app has no resource `none.json`; add `none.json` to the resources of the app's target"
                #expect(reasons == [Tenure.Answer.Reason("policyUnusable", ["detail": [detail]])])
                #expect(await tenure.decision(for: "cloud").nextSteps == [.support])
                let generous = Tenure(
                    policyIfValid: missing, options: served.options { $0.whileUndetermined = .allow(3600) })
                _ = await generous.settled()
                #expect(await !generous.allows("cloud"), "a known denial")
                #expect(await generous.allows("scanner"), "the grace period applies without a stored denial")
            }
            try await served.device(of: "Dana") { _ in
                let options = served.options { $0.folder = served.folder.appendingPathComponent("dana") }
                let tenure = Tenure(policyIfValid: missing, options: options)
                #expect(await !tenure.allows("everything"))
                #expect(await tenure.decision(for: "everything").outcome == .undetermined)
                var generous = options
                generous.whileUndetermined = .allow(3600)
                #expect(await Tenure(policyIfValid: missing, options: generous).allows("everything"))
            }
        }
    }

    @Test func `a policy that can't be used leaves a stored grant only until its end`() async {
        let end = InventedApp.now.addingTimeInterval(10 * InventedApp.day)
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
        #expect(await device.start().settled().has("cloud"))
        let missing = Tenure.PolicySource.file(URL(fileURLWithPath: "/nowhere/none.json"))
        for (now, isGranted) in [(end.addingTimeInterval(-1), true), (end, false)] {
            device.time.now = now
            let tenure = device.start { $0.policy = missing }
            #expect(await tenure.settled().has("cloud") == isGranted)
            #expect(await tenure.decision(for: "cloud").outcome == (isGranted ? .granted : .undetermined))
            #expect(await tenure.allows("cloud") == isGranted)
        }
    }

    @Test func `every error of the client has a description and a recovery suggestion`() {
        let errors: [Tenure.Error] = [
            .unverified("x"), .service("x"), .notStored("x"), .key("x"), .noTrial(entitlement: "x"),
            .trialOver(entitlement: "x"), .policy(.missing(name: "x")), .policy(.empty(name: "x")),
            .policy(.unreadable(name: "x")), .policy(.invalid(name: "x", reason: "y")),
            .policy(.otherApp(bundleID: "x", appBundleID: "y")), .policy(.source("x")), .serviceAddress("x"),
            .purchasesUnavailable("x"), .accessGroup("x"), .persona("x"),
        ]
        for error in errors {
            #expect(error.localizedDescription == error.errorDescription)
            #expect(error.errorDescription?.isEmpty == false)
            #expect(error.recoverySuggestion?.isEmpty == false, "\(error)")
        }
        for error in [Tenure.InvalidVersionList.malformed(["v2"]), .noCriteria(entitlement: "x")] {
            #expect(error.localizedDescription == error.errorDescription)
            #expect(error.errorDescription?.isEmpty == false)
            #expect(error.recoverySuggestion?.isEmpty == false, "\(error)")
        }
    }

    @Test func `an app with unusable options starts, and its customer value contains the error`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Ada") { _ in
                let sound = Tenure(policyIfValid: .policy(InventedApp.policy()), options: served.options())
                #expect(sound.customer.optionsError == nil)
                let changes: [(inout Tenure.Options) -> Void] = [
                    { $0.accessGroup = "no group" }, { $0.persona = .token("a token without a service") },
                ]
                for change in changes {
                    let tenure = Tenure(
                        policyIfValid: .policy(InventedApp.policy()), options: served.options { change(&$0) })
                    let error = try #require(tenure.customer.optionsError)
                    #expect(error.recoverySuggestion != nil)
                    let customer = await tenure.settled()
                    #expect(customer.optionsError == error)
                    #expect(customer.policyError == nil)
                    #expect(customer.has("everything"))
                    #expect(throws: error) {
                        try Tenure(policy: .policy(InventedApp.policy()), options: served.options { change(&$0) })
                    }
                }
            }
        }
    }
}
