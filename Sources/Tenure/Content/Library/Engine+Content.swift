import Foundation
import TenureAPI
import TenureCore

extension Engine {
    /// Asks the service for the content catalog and the customer's links.
    func content(appVersion: AppVersion?) async throws -> ContentResponse {
        load()
        guard let service = setup.service else { throw ServiceFailure.noAnswer("the app names no service") }
        if token.map({ $0.expiresAt <= setup.clock() }) ?? true { await searchAgain() }
        guard let token else { throw ServiceFailure.noAnswer("it gave no access token") }
        return try await service.content(appVersion: appVersion, token: token.value)
    }

    /// Yields after everything that may change a right.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changed = continuation
        return stream
    }

    /// Whether the customer may use what a product unlocks: an entitlement that only this product grants.
    func allowsProduct(_ id: String) -> Bool {
        if setup.isListening || !distribution.hasPurchases && setup.options.outsideAppStore == .allow { return true }
        let length = policy?.entitlements.flatMap(\.products).first { $0.id == id }?.length
        let entitlement = Entitlement(
            name: "content",
            products: [.init(id: id, length: length ?? memory.catalog?.catalog?.length(of: id))])
        guard
            // No entitlement honors the era, which a policy must have.
            let policy = try? Policy(
                app: Policy.App(bundleID: "content"), eras: [Era(name: "any", model: .free)],
                entitlements: [entitlement])
        else { return false }
        let evidence = memory.account.evidence(
            in: memory.account.environment ?? distribution.environment(of: nil),
            purchasesAreComplete: reading.knowsPurchases)
        return decide(evidence, under: policy, at: memory.time.now(setup.clock())).first?.outcome == .granted
    }
}

extension AsyncStream where Element: Sendable {
    /// Yields whenever this or another stream does, until both end.
    func merged<Other: Sendable>(with other: AsyncStream<Other>) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in self { continuation.yield() } }
                group.addTask { for await _ in other { continuation.yield() } }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
