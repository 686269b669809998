import TenureAPI
import TenureCore

/// What the content library needs from the engine: the service's catalog and links, answers about products, and
/// changes.
extension Engine {
    /// Asks the service for the content catalog, and for links to the packs that the customer may use.
    func content(appVersion: AppVersion?) async throws -> ContentResponse {
        load()
        guard let service = setup.service else {
            throw ServiceFailure.noAnswer("the client has no service; create it with `Tenure(service:…)`")
        }
        guard let token = await validToken(isFresh: false) else { throw ServiceFailure.noAccessToken }
        do {
            return try await service.content(appVersion: appVersion, token: token)
        } catch {
            // The service says that the access token has expired, so get a new token.
            guard case .refused(let problem, _) = error, problem.code == .notAuthenticated else { throw error }
            if device.accessToken?.value == token { device.accessToken = nil }
            guard let newToken = await validToken(isFresh: true) else { throw ServiceFailure.noAccessToken }
            return try await service.content(appVersion: appVersion, token: newToken)
        }
    }

    /// Reads the App Store and asks the service again. Returns whether the service has answered.
    func syncAgain() async -> Bool {
        await searchAgain()
        return device.snapshot.steps.contains { $0.name == .service && $0.outcome == .done }
    }

    /// Returns a stream that yields after events that may change what the customer may use. Several events may yield
    /// once. There is only one stream: a new call replaces the earlier stream, which then yields nothing more.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        device.changesContinuation = continuation
        return stream
    }

    /// Makes the engine also decide about these products, which unlock packs directly.
    func follow(products: Set<String>) {
        load()
        guard products != device.facts.contentProducts else { return }
        let hadProducts = !device.productIDsToRequest.isEmpty
        device.facts.contentProducts = products
        // Without product IDs, an earlier search couldn't check an empty list of purchases: see
        // `noteUncheckedPurchases`.
        let mustSearch = !hadProducts && hasBegunSearch && device.facts.distribution.hasPurchases
        if mustSearch, device.snapshot.transactions?.isEmpty == true { appStore.noteUncheckedPurchases() }
        device.post()
        guard mustSearch else { return }
        Task {
            await waitForRunningSearch()
            // A list with purchases, or an empty list that was checked, needs no other search of the App Store.
            if device.snapshot.transactions == nil { await search() }
        }
    }

    /// Returns which of the products have a purchase with content that isn't delivered yet.
    func undelivered(_ products: Set<String>) -> [String] {
        load()
        return products.filter { product in
            device.stored.account.purchases.contains {
                $0.productID == product && !finisher.deliveredOriginalIDs.contains($0.originalTransactionID)
            }
        }
    }
}

extension Evaluation {
    /// The name of a product's right in the customer's answers.
    static func right(ofProduct id: String) -> String { "product:\(id)" }

    /// The decisions about products that unlock packs directly. Each product is treated as an entitlement that only
    /// this product grants.
    var productAnswers: [String: Tenure.Answer] {
        guard !facts.contentProducts.isEmpty, !setup.isListening, facts.distribution.hasPurchases else { return [:] }
        let entitlements = facts.contentProducts.sorted().map { id in
            let length = facts.policy?.entitlements.lazy.flatMap(\.products).first { $0.id == id }?.length
            return Entitlement(
                name: Self.right(ofProduct: id),
                products: [.init(id: id, length: length ?? stored.catalog?.catalog?.length(of: id))])
        }
        return Policy(ofPurchases: entitlements).map { answers(under: $0) } ?? [:]
    }
}
