import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure
@testable import TenureHTTP

@Suite struct `Requests for a signed policy` {
    private let signer = PolicySigner()
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "tenure-request-\(UUID().uuidString)")

    @Test func `the request for a policy has the app's timeout and the largest size of a policy`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let recorder = RequestRecorder()
        let url = try #require(URL(string: "https://www.example.com/tenure.jws"))
        let bundled = Data(PolicyFile.compile(InventedApp.policy()))
        let (folder, pin) = (folder, signer.pin.text)
        let device = Device(FakeStore { $0.app = InventedApp.owner() }) { setup in
            setup.options.folder = folder
            setup.options.serviceTimeout = 90
            setup.policy = .signed(url, keys: [pin], transport: recorder) { bundled }
        }
        let customer = await device.start().settled()
        let why = "the request for the policy was canceled; Tenure tries again later"
        #expect(customer.steps.contains(Tenure.AppStoreStep(name: .policy, outcome: .failed(why))))
        #expect(customer.has("everything"))
        #expect(recorder.requests.map(\.url) == [url] && recorder.requests.map(\.timeout) == [90])
        #expect(recorder.requests.map(\.bodyLimit) == [SignedPolicy.maximumTextSize])
        #expect(recorder.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    }

    @Test(
        arguments: [
            (
                .timedOut(seconds: 5),
                "the policy server didn't respond (no response within 5.0 seconds); Tenure tries again later", true
            ),
            (
                .bodyTooLarge(limit: 9),
                "the policy server's response is larger than 9 bytes, so it isn't a policy; check the URL", false
            ),
            (.canceled, "the request for the policy was canceled; Tenure tries again later", true),
        ] as [(TransportFailure, String, Bool)])
    func `each failure of a request for a policy has its own text, and a temporary one is tried again`(
        _ failure: TransportFailure, _ text: String, _ isRetryable: Bool
    ) {
        let error = PolicyFetchError(failure)
        #expect(error.description == text && error.isRetryable == isRetryable)
    }

    @Test func `the failure of a request without a network is tried again, and a missing policy isn't`() {
        #expect(PolicyFetchError(.connection(URLError(.notConnectedToInternet))).isRetryable)
        let missing = PolicyFetchError.status(404)
        #expect(missing.description == "the policy server responded with status 404; check the URL of the policy")
        #expect(!missing.isRetryable)
    }
}
