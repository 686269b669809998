import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import LocalAppStore
@testable import TenureServer

/// A local App Store with one customer, Ada; its App Store Server API on a free port; and one clock for
/// the App Store and the service.
struct LocalStoreTestBed: Sendable {
    let appStore: LocalAppStore
    let key: ServerAPIKey
    let clock: TestClock
    let port: Int
    let http: HTTPTransport

    /// Starts the local App Store. All of its notifications get lost.
    static func run(
        _ environment: AppStoreEnvironment = .production,
        _ body: @escaping @Sendable (LocalStoreTestBed) async throws -> Void
    ) async throws {
        let clock = TestClock()
        let now: @Sendable () -> Date = { clock.now }
        let product = AppStoreProduct(id: Calculator.everything, type: .nonConsumable, price: 9990)
        let release = AppStoreRelease(
            platform: .iOS, build: "300", version: "3.0", releasedAt: Calculator.now.addingTimeInterval(-9 * 86_400))
        let app = AppStoreApp(
            bundleID: "com.example.calculator", appAppleID: 828_838_134, releases: [release],
            prices: [AppPrice(from: release.releasedAt, price: 0)], products: [product],
            notificationURL: "https://example.com/hook")
        var state = AppStoreState(
            seed: "test", environment: environment, startingAt: Calculator.now.addingTimeInterval(-86_400),
            apps: [app])
        try state.addCustomer("Ada")
        try state.acquire("Ada")
        state.advance(to: Calculator.now)
        let appStore = LocalAppStore(state, signer: AppStoreSigner(authority: Calculator.authority)) { _, _, _ in
            .noResponse
        }
        let key = try ServerAPIKey(seed: "test")
        let router = Router(context: BasicRequestContext.self)
        await ServerAPI(store: appStore, key: key, now: now).add(to: router)
        try await Application(router: router).test(.live) { client in
            let http = HTTPTransport()
            let testBed = LocalStoreTestBed(
                appStore: appStore, key: key, clock: clock, port: try #require(client.port), http: http)
            do {
                try await body(testBed)
            } catch {
                try? await http.close()
                throw error
            }
            try await http.close()
        }
    }

    func operation(_ kind: AppStoreOperation.Kind) async throws {
        try await appStore.perform(AppStoreOperation(kind, [.customer: "Ada", .product: Calculator.everything]))
    }

    /// Advances the clock of the local App Store and of the service.
    func pass(_ seconds: TimeInterval) async throws {
        clock.advance(by: seconds)
        try await appStore.perform(AppStoreOperation(.advance, [.to: clock.now.rfc3339]))
    }

    /// What Ada's app sends when it starts: the app transaction alone.
    var sync: SyncRequest {
        get async throws { try await sync(from: try #require(await appStore.state.accounts.first?.devices.first)) }
    }

    /// What Ada's app sends when it starts on this device.
    func sync(from device: UUID) async throws -> SyncRequest {
        let state = await appStore.state
        let acquisition = try #require(state.acquisitions.first)
        var request = SyncRequest()
        request.appTransaction = try appStore.signer.appTransaction(acquisition, in: state, for: .device(device))
        request.deviceVerificationID = device.uuidString
        return request
    }

    /// Runs the service once on the database in a folder.
    ///
    /// - Parameters:
    ///   - key: the service's key for the App Store; nil if the service has no key.
    ///   - environments: the environments that the service accepts; nil for all.
    ///   - answer: replaces the local App Store.
    func service(
        in folder: String, key: ServerAPIKey?, policy: Policy? = nil, logger: Logger = Calculator.logger,
        accepting environments: [AppStoreEnvironment]? = nil,
        answering answer: (@Sendable (AppStoreTransport.Request) -> AppStoreTransport.Answer)? = nil,
        _ body: @escaping @Sendable (Client, AppStoreJobs?) async throws -> Void
    ) async throws {
        var configuration = try Calculator.configuration(folder, policy: policy)
        configuration.now = { [clock] in clock.now }
        configuration.metrics = .open
        configuration.adminKey = AdminClient.adminKey
        if let environments {
            configuration.anchors = configuration.anchors.filter { environments.contains($0.key) }
        }
        if let key { configuration.appStore = try settings(key, in: folder) }
        let transport =
            answer.map { answer in
                AppStoreTransport { request async throws(AppStoreFailure) in answer(request) }
            } ?? http.transport
        let service = try await TenureService(configuration, appStore: transport)
        let jobs = try service.appStoreJobs(logger: logger)
        do {
            // This runs only the routes, so that the test decides when a job uses the App Store.
            try await Application(router: service.router()).test(.router) { try await body(Client(http: $0), jobs) }
        } catch {
            try? await service.store.close()
            throw error
        }
        try await service.store.close()
    }

    func settings(_ key: ServerAPIKey, in folder: String) throws -> AppStoreSettings {
        let file = folder + "/key.p8"
        try writeSecret(key.pem, to: file)
        var settings = AppStoreSettings(issuerID: key.issuerID, keyID: key.keyID, privateKeyFile: file)
        settings.hosts.production = "http://127.0.0.1:\(port)"
        settings.hosts.sandbox = settings.hosts.production
        return settings
    }
}
