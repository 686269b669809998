import Foundation
import TenureCore
import Testing

@testable import TenureHTTP

/// The values that go into a transport and come out of it, without a server.
@Suite struct `requests, responses and failures of a transport` {
    private static let url = URL(fileURLWithPath: "/")

    /// A transport without `receive`, so it uses the default implementation.
    private struct WholeResponse: Transport {
        let body: String

        func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            TransportResponse(status: 206, headers: ["X-Answer": "yes"], body: Data(body.utf8))
        }
    }

    @Test(arguments: [("0123", true, ["0123"]), ("0123", false, []), ("", true, [])])
    func `the default implementation delivers the whole body in one piece, if it is wanted and not empty`(
        body: String, isAccepted: Bool, expected: [String]
    ) async throws {
        let request = TransportRequest(Self.url, timeout: 1, bodyLimit: 1)
        let heads = Locked<[TransportResponse]>([])
        var pieces: [String] = []
        let response = try await WholeResponse(body: body).receive(request) { head in
            heads.withLock { $0.append(head) }
            return isAccepted
        } body: { piece in
            pieces.append(String(decoding: piece, as: UTF8.self))
        }
        #expect(pieces == expected)
        #expect(response.status == 206 && response.header("x-answer") == "yes" && response.body.isEmpty)
        // The head that the caller sees has no body either.
        #expect(heads.withLock { $0 } == [response])
    }

    @Test func `each failure has a message and the corresponding error of Foundation`() {
        // The codes of `NSURLErrorDomain`.
        let cases: [(TransportFailure, String, Int)] = [
            (.timedOut(seconds: 2.5), "no response within 2.5 seconds", -1001),
            (.bodyTooLarge(limit: 10), "the response has more than 10 bytes", -1103),
            (.canceled, "the request was canceled", -999),
            (.connection(URLError(.cannotFindHost)), URLError(.cannotFindHost).localizedDescription, -1003),
        ]
        for (failure, text, code) in cases {
            #expect(failure.urlError.code.rawValue == code)
            #expect(failure.description == text)
        }
    }

    @Test func `a request is a GET without header fields until it gets a range or JSON`() {
        var request = TransportRequest(Self.url, timeout: 1, bodyLimit: 1)
        #expect(request.method == "GET" && request.headers.isEmpty && request.body == nil)
        #expect(request.allowsExpensiveNetwork && request.allowsConstrainedNetwork)
        request.setRange(0..<1)
        #expect(request.headers == ["Range": "bytes=0-0", "Accept-Encoding": "identity"])
        request.setRange(4_194_304..<8_388_608)
        #expect(request.headers["Range"] == "bytes=4194304-8388607")
        request.post(json: Data("{}".utf8))
        #expect(request.method == "POST" && request.headers["Content-Type"] == "application/json")
        #expect(request.body == Data("{}".utf8))
    }
}
