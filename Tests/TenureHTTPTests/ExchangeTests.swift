import Foundation
import TenureCore
import Testing

@testable import TenureHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and its response, without a server.
@Suite struct `an exchange of the transport` {
    private static let url = URL(fileURLWithPath: "/")

    private func make(accepts: Bool? = true) -> Exchange {
        let request = TransportRequest(Self.url, timeout: 1, bodyLimit: 10)
        guard let accepts else { return Exchange(request) }
        return Exchange(request, accept: { _ in accepts })
    }

    /// Returns the pieces that arrived, or how the exchange ended.
    private func next(_ exchange: Exchange) async -> String {
        switch await exchange.next() {
        case .pieces(let pieces): pieces.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|")
        case .end(.success(let response)): "status \(response.status)"
        case .end(.failure(let failure)): failure.description
        }
    }

    @Test(arguments: [true, nil])
    func `the limit of a response's body counts all its pieces together`(accepts: Bool?) {
        let exchange = make(accepts: accepts)
        let fits = ["012345", "6789", "x"].map { exchange.receive(Data($0.utf8)) }
        #expect(fits == [true, true, false])
    }

    @Test func `pieces of a response that arrived before its end are delivered before the end`() async {
        let exchange = make()
        for text in ["01", "23"] { #expect(exchange.receive(Data(text.utf8))) }
        exchange.end(.failure(.canceled))
        #expect(await next(exchange) == "01|23")
        #expect(await next(exchange) == "the request was canceled")
    }

    @Test func `an exchange keeps its first outcome, and takes no data after it`() async {
        let exchange = make()
        #expect(!exchange.isOver && exchange.silence != nil)
        let codes = Locked<[Int]>([])
        let complete: @Sendable (Exchange.Outcome) -> Void = { outcome in
            if case .failure(let failure) = outcome { codes.withLock { $0.append(failure.urlError.code.rawValue) } }
        }
        exchange.onCompletion(complete)
        exchange.end(.failure(.timedOut(seconds: 1)))
        exchange.end(.failure(.canceled))
        // The code of `NSURLErrorTimedOut`: the first completion was called once.
        #expect(codes.withLock { $0 } == [-1001])
        exchange.onCompletion(complete)
        #expect(codes.withLock { $0 } == [-1001, -1001])
        #expect(exchange.receive(Data("01".utf8)))
        #expect(await next(exchange) == "no response within 1.0 seconds")
        #expect(exchange.isOver && exchange.silence == nil)
    }

    @Test func `a declined response ends the exchange with its head, and a response that isn't HTTP is a failure`()
        async throws
    {
        let head = try #require(
            HTTPURLResponse(url: Self.url, statusCode: 404, httpVersion: nil, headerFields: ["X-Answer": "yes"]))
        let declining = make(accepts: false)
        #expect(!declining.receive(head))
        guard case .end(.success(let response)) = await declining.next() else {
            Issue.record("the exchange didn't end with the response")
            return
        }
        #expect(response.status == 404 && response.header("x-answer") == "yes" && response.body.isEmpty)
        let accepting = make()
        #expect(accepting.receive(head))
        #expect(!accepting.isOver)

        let other = URLResponse(url: Self.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        let streamed = make()
        #expect(!streamed.receive(other))
        guard case .end(.failure(let failure)) = await streamed.next() else {
            Issue.record("a response that isn't HTTP was accepted")
            return
        }
        #expect(failure.urlError.code == .badServerResponse)
    }
}
