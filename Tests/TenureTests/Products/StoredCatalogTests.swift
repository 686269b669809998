import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// Requests to a service that never responds.
@Suite struct `A stored product catalog` {
    private let recorder = RequestRecorder()

    private func device(_ store: FakeStore, policy: Policy? = nil) throws -> Device {
        let url = try #require(URL(string: "https://example.com"))
        let service = ServiceConnection(url: url, app: nil, timeout: 5, transport: recorder)
        return Device(store, policy: policy) { $0.service = service }
    }

    /// Starts the client with a stored catalog, and returns its requests for the catalog.
    private func requests(stored text: String, after seconds: TimeInterval) async throws -> [TransportRequest] {
        let device = try device(FakeStore { $0.app = InventedApp.newcomer() })
        try device.storage.update(device: nil) { _ in
            var state = StoredState(clock: InventedApp.now)
            state.catalog = CachedCatalog(text: text, tag: "\"one\"", fetchedAt: InventedApp.now)
            return state
        }
        device.time.now += seconds
        _ = await device.start().settled()
        return recorder.requests.filter { $0.url.path == "/v1/products" }
    }

    @Test func `a stored catalog that can't be read is requested whole at once`() async throws {
        let requests = try await requests(stored: "<html>", after: 0)
        #expect(requests.count == 1)
        #expect(requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    }

    @Test(arguments: [(0, 0), (82_799, 0), (82_800, 1)])
    func `a stored catalog that can be read is requested only after 23 hours, and with its tag`(
        seconds: Int, count: Int
    ) async throws {
        let text = #"{"products":[{"id":"a","grants":[]}],"entitlements":[]}"#
        let requests = try await requests(stored: text, after: TimeInterval(seconds))
        #expect(requests.count == count)
        #expect(requests.allSatisfy { $0.headers["If-None-Match"] == "\"one\"" })
    }

    @Test func `a development build without purchases sends nothing, which isn't a failure`() async throws {
        let device = try device(FakeStore { $0.distribution = .development }, policy: InventedApp.policy())
        let customer = await device.start().settled()
        let why = "no app transaction, transaction or receipt could be read, so there is nothing to send"
        #expect(customer.steps.contains(Tenure.AppStoreStep(name: .service, outcome: .skipped(why))))
        #expect(!recorder.requests.contains { $0.url.path == "/v1/sync" })
    }
}
