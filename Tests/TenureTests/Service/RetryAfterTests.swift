import Foundation
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct RetryAfterTests {
    @Test(
        arguments: [
            ("12", 12), ("0", 0), ("-5", 0), ("1.5", 1.5), ("inf", nil), ("soon", nil), ("", nil),
            ("Sun, 06 Nov 1994 08:49:40 GMT", 3), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ] as [(String, Double?)])
    func `the client waits as long as Retry-After says, by the server's clock`(_ text: String, _ seconds: Double?) {
        let headers = ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(TransportResponse(status: 503, headers: headers, body: Data()).retryAfter == seconds)
    }

    @Test func `a response without Retry-After, or with its date but no Date header, sets no waiting time`() {
        #expect(TransportResponse(status: 503, body: Data()).retryAfter == nil)
        let date = ["Retry-After": "Sun, 06 Nov 1994 08:49:40 GMT"]
        #expect(TransportResponse(status: 503, headers: date, body: Data()).retryAfter == nil)
    }
}
