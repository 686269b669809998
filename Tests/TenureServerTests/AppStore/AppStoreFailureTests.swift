import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `an error of the App Store Server API` {
    private func refusal(_ status: Int, _ code: Int64?) -> AppStoreFailure {
        .refused(
            AppStoreRefusal(
                endpoint: .transactionHistory, environment: .production, status: status,
                code: code.map(AppStoreErrorCode.init)))
    }

    private func read(_ status: Int, _ body: String, retryAfter: String? = nil) -> AppStoreRefusal {
        AppStoreRefusal(
            .init(status: status, retryAfter: retryAfter, body: Array(body.utf8)), to: .transactionHistory,
            in: .production, now: Calculator.now)
    }

    @Test func `App Store errors that Apple documents as retryable, server errors and lost connections allow a retry`()
    {
        for code: Int64 in [4_040_002, 4_040_004, 4_040_006] { #expect(refusal(404, code).isRetryable, "\(code)") }
        #expect(refusal(429, 4_290_000).isRetryable)
        #expect(refusal(429, nil).isRetryable)
        for (status, code) in [(500, Int64(5_000_001)), (500, 5_000_000), (502, nil), (503, nil)] {
            #expect(refusal(status, code).isRetryable, "\(status)")
        }
        for failure in [AppStoreFailure.unreachable("x"), .timedOut(1), .throttled(until: Calculator.now)] {
            #expect(failure.isRetryable)
        }
    }

    @Test func `App Store errors that a retry at once can't fix allow a later retry or no retry`() {
        for code: Int64 in [4_000_000, 4_000_006, 4_000_048] { #expect(refusal(400, code).remedy == .none, "\(code)") }
        for code: Int64 in [4_040_001, 4_040_003, 4_040_005, 4_040_010, 4_040_019] {
            #expect(refusal(404, code).remedy == .later, "\(code)")
        }
        #expect(refusal(403, 4_030_005).remedy == .later)
        #expect(refusal(302, nil).remedy == .later)
        for failure in [AppStoreFailure.notAuthorized(.sandbox), .tooLarge(limit: 1), .unreadable("x"), .canceled] {
            #expect(failure.remedy == .later)
        }
        #expect(AppStoreFailure.invalidID.remedy == .none)
        #expect(AppStoreFailure.notServed(.xcode).remedy == .none)
    }

    @Test func `three error codes of the App Store mean that the environment doesn't know the ID`() {
        for code: Int64 in [4_040_005, 4_040_010, 4_040_019] { #expect(refusal(404, code).isUnknownID) }
        for code: Int64? in [4_040_001, 4_040_006, 4_000_006, nil] { #expect(!refusal(404, code).isUnknownID) }
    }

    @Test(arguments: [
        // The App Store sends an instant, in milliseconds since 1970.
        ("1795176030000", 30.0), ("1795175990000", 0), ("1795176000500", 0.5),
        // The HTTP standard defines seconds to wait.
        ("30", 30), ("0", 0), ("3600", 3600),
        // An instant in seconds since 1970 isn't read as a wait of decades.
        ("1795176030", 30),
        // The wait is a day at most.
        ("999999", 86_400), ("9999999999999", 86_400),
    ])
    func `an App Store error contains the instant for a retry, read from Retry-After`(
        header: String, seconds: TimeInterval
    ) {
        #expect(read(429, "", retryAfter: header).retryAt == Calculator.now.addingTimeInterval(seconds))
    }

    @Test(arguments: [
        "", "soon", "-5", "1e9", "Fri, 20 Nov 2026 12:00:30 GMT", "99999999999999999999", " 30", "٣٠", "nan", "0x10",
    ])
    func `an App Store error contains no instant for a retry if Retry-After is malformed`(header: String) {
        #expect(read(429, "", retryAfter: header).retryAt == nil)
    }

    @Test func `an App Store error is read from a valid body, and an invalid body gives no error code`() {
        let known = read(404, #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#)
        #expect(known.code == AppStoreErrorCode(rawValue: 4_040_010))
        #expect(known.message == "Transaction id not found.")
        for body in [
            "", "<html>", "[]", "null", #"{"errorCode":"4040010"}"#, #"{"errorCode":1.5}"#, #"{"errorMessage":7}"#,
            #"{"errorCode":99999999999999999999}"#,
        ] {
            #expect(read(500, body).code == nil, "\(body)")
        }
    }

    @Test func `an App Store error message is shortened to 200 characters, all of them printable ASCII`() {
        let body = #"{"errorCode":4000000,"errorMessage":"\#(String(repeating: "é\\u0007x", count: 500))"}"#
        #expect(read(400, body).message == String(repeating: "x", count: 200))
    }

    @Test func `the description of an App Store error is one line, without a period at its end`() {
        let failures: [AppStoreFailure] = [
            refusal(404, 4_040_010), .notAuthorized(.production), .unreachable("x"), .timedOut(30),
            .tooLarge(limit: 100), .unreadable("x"), .untrusted(Rejection(.badSignature, "x")),
            .throttled(until: Calculator.now), .invalidID, .notServed(.xcode), .cannotSign, .canceled,
        ]
        for failure in failures {
            #expect(!failure.description.contains("\n") && !failure.description.hasSuffix("."), "\(failure)")
        }
    }
}
