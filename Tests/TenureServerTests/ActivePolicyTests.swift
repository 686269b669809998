import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a policy that another process published and this one doesn't have yet` {
    @Test func `a customer's request reads a policy that another process published if a promise depends on it`()
        async throws
    {
        try await withFolder { folder in
            // This policy promises everything to customers who came before 2020.
            let later = try Calculator.policy(honors: [Honor(era: "paid"), Honor(era: "freemium")])
            // This service reads the active policy from the database only once an hour.
            try await withServiceTestBed(in: folder, { $0.policyStaleness = .seconds(3600) }) { first in
                let request = SyncRequest(appTransaction: try Calculator.minter().newcomer())
                let before = try await first.client.sync(request)
                #expect(before.entitlements["everything"]?.outcome != .granted)
                try await withServiceTestBed(in: folder, policy: later) { second in
                    let promised = try await second.client.sync(request)
                    #expect(promised.entitlements["everything"]?.outcome == .granted)
                }
                let token = try #require(before.accessToken).value
                let asked = try await first.client.customer(token)
                #expect(asked.entitlements["everything"]?.reasons.first?.code == "promise")
            }
        }
    }

    @Test func `syncs and notifications read another process's policy if a promise depends on it`() async throws {
        try await withFolder { folder in
            let later = try Calculator.policy(honors: [Honor(era: "paid"), Honor(era: "freemium")])
            // This service reads the active policy from the database only once an hour.
            try await withServiceTestBed(in: folder, { $0.policyStaleness = .seconds(3600) }) { first in
                let request = SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000002"))
                let other = SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000003"))
                try await withServiceTestBed(in: folder, policy: later) { second in
                    for request in [request, other] { _ = try await second.client.sync(request) }
                }
                let bought = SimulatedPurchase(
                    id: "1", original: "1", product: Calculator.everything, type: .nonConsumable,
                    purchased: Calculator.now, acquisition: "704000000000000002")
                let response = try await first.client.notify(
                    try Calculator.minter().notification("ONE_TIME_CHARGE", uuid: "u", of: bought))
                #expect(response.status == .ok)
                #expect(try await first.client.sync(other).entitlements["everything"]?.outcome == .granted)
            }
        }
    }
}

@Suite struct `the policy in effect` {
    @Test func `an answer of the database about an older publication, or to an earlier question, changes nothing`()
        throws
    {
        func inEffect(_ publication: Int64, version: Int64, _ policy: Policy) -> ActivePolicy.InEffect {
            ActivePolicy.InEffect(publication: publication, version: version, sha256: [], policy: policy)
        }
        let (usual, generous) = (try Calculator.policy(), try Policy.generous())
        let start = ContinuousClock.now
        let versions = PolicyVersions(inEffect(1, version: 1, usual), askedAt: start)
        versions.updateInEffect(inEffect(2, version: 2, generous), askedAt: start + .seconds(2))
        #expect(versions.inEffect.publication == 2 && versions.inEffect.policy == generous)
        #expect(versions.lastAsked == start + .seconds(2))
        versions.updateInEffect(inEffect(1, version: 1, usual), askedAt: start + .seconds(1))
        #expect(versions.inEffect.publication == 2 && versions.inEffect.policy == generous)
        #expect(versions.lastAsked == start + .seconds(2))
        versions.updateInEffect(nil, askedAt: start + .seconds(3))
        #expect(versions.inEffect.publication == 2 && versions.lastAsked == start + .seconds(3))
        // A rollback is a later publication of an earlier version.
        versions.updateInEffect(inEffect(3, version: 1, usual), askedAt: start + .seconds(4))
        #expect(versions.inEffect.version == 1 && versions.inEffect.policy == usual)
    }
}
