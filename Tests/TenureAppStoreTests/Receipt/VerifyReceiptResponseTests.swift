import Foundation
import TenureAppStore
import TenureJSON
import Testing

struct VerifyReceiptResponseTests {
    private func response(_ json: String) throws -> VerifyReceiptResponse {
        try VerifyReceiptResponse(parsing: Array(json.utf8))
    }

    private let date = Date(timeIntervalSince1970: 1_595_439_548)

    @Test func `numbers can be written as texts and texts as numbers`() throws {
        for (status, id, quantity, flag) in [
            ("0", "9007199254740993", "1", "true"), (#""0""#, #""9007199254740993""#, #""1""#, #""true""#),
            ("0", "9007199254740993", "1", "1"),
        ] {
            let answer = try response(
                """
                {"status": \(status), "environment": "Production", "receipt": {"download_id": \(id), "adam_id": 828838134,
                 "bundle_id": "com.example.calculator", "in_app": [{"quantity": \(quantity), "is_trial_period": \(flag),
                 "product_id": "a", "transaction_id": 1}]}, "is-retryable": \(flag), "unknown": [1, {}]}
                """)
            #expect(answer.status == 0)
            #expect(answer.receipt?.downloadID == 9_007_199_254_740_993)
            #expect(answer.receipt?.appAppleID == 828_838_134)
            #expect(answer.receipt?.inApp.first?.quantity == 1)
            #expect(answer.receipt?.inApp.first?.isTrialPeriod == true)
            #expect(answer.receipt?.inApp.first?.transactionID == "1")
            #expect(answer.isRetryable == true)
        }
    }

    @Test(arguments: [
        #""original_purchase_date_ms": "1595439548000", "original_purchase_date": "never""#,
        #""original_purchase_date_ms": 1595439548000"#,
        #""original_purchase_date": "2020-07-22 17:39:08 Etc/GMT""#,
        #""original_purchase_date": "1595439548000""#,
        #""original_purchase_date": "2020-07-22T17:39:08Z""#,
        #""original_purchase_date_ms": null, "original_purchase_date": "2020-07-22 17:39:08 Etc/GMT""#,
    ])
    func `dates are read from milliseconds first`(_ members: String) throws {
        #expect(try response(#"{"status":0,"receipt":{\#(members)}}"#).receipt?.originalPurchaseDate == date)
    }

    @Test func `a flat receipt of iOS 6 is one purchase`() throws {
        let answer = try response(
            #"{"status":21006,"receipt":{"bid":"com.example.calculator","bvrs":"37","item_id":"5","product_id":"a","transaction_id":"7","original_purchase_date_ms":"1595439548000","expires_date":"1595439548000"}}"#
        )
        #expect(answer.receipt?.bundleID == "com.example.calculator")
        #expect(answer.receipt?.applicationVersion == "37")
        #expect(answer.receipt?.originalPurchaseDate == nil)
        #expect(answer.receipt?.inApp.map(\.transactionID) == ["7"])
        #expect(answer.receipt?.inApp.map(\.expiresDate) == [date])
    }

    @Test func `renewals and the latest transactions are read`() throws {
        let answer = try response(
            #"{"status":0,"latest_receipt":"MII=","latest_receipt_info":[{"is_upgraded":"true","in_app_ownership_type":"FAMILY_SHARED","web_order_line_item_id":"3"}],"pending_renewal_info":[{"auto_renew_status":"0","is_in_billing_retry_period":"1","expiration_intent":"2","grace_period_expires_date_ms":"1595439548000"}]}"#
        )
        #expect(answer.latestReceipt == "MII=")
        #expect(answer.latestReceiptInfo.first?.isUpgraded == true)
        #expect(answer.latestReceiptInfo.first?.ownershipType == "FAMILY_SHARED")
        let renewal = try #require(answer.pendingRenewalInfo.first)
        #expect(renewal.autoRenewStatus == "0")
        #expect(renewal.isInBillingRetryPeriod == true)
        #expect(renewal.expirationIntent == "2")
        #expect(renewal.gracePeriodExpiresDate == date)
    }

    @Test func `an error has only a status`() throws {
        #expect(try response(#"{"status":21007}"#).status == 21_007)
        #expect(try response(#"{"status":21007}"#).receipt == nil)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"status":null}"#, #"{"status":"x"}"#, #"{"status":0.5}"#,
        #"{"status":0,"receipt":[]}"#, #"{"status":0,"receipt":{"in_app":[1]}}"#,
        #"{"status":0,"receipt":{"download_id":-1}}"#, #"{"status":0,"receipt":{"download_id":1e3}}"#,
        #"{"status":0,"receipt":{"in_app":[{"cancellation_date":"refunded"}]}}"#,
        #"{"status":0,"receipt":{"in_app":[{"cancellation_date_ms":"soon"}]}}"#,
        #"{"status":0,"receipt":{"in_app":[{"is_trial_period":"maybe"}]}}"#,
    ])
    func `what cannot be read is malformed, and never absent`(_ json: String) throws {
        let rejection = #expect(throws: Rejection.self) { try response(json) }
        #expect(rejection?.code == .malformed)
    }

    @Test func `depth and size are bounded`() throws {
        let deep = #"{"status":0,"receipt":"# + String(repeating: "[", count: 100_000)
        #expect(throws: Rejection.self) { try response(deep) }
        let rejection = #expect(throws: Rejection.self) {
            try VerifyReceiptResponse(parsing: Array(repeating: 0x20, count: VerifyReceiptResponse.maximumSize + 1))
        }
        #expect(rejection?.code == .tooLarge)
    }

    @Test func `an answer is recognized by its status`() throws {
        func isRecognized(_ json: String) throws -> Bool {
            guard case .object(let object) = try JSONValue(parsing: Array(json.utf8)) else { return false }
            return VerifyReceiptResponse.isRecognized(in: object)
        }
        #expect(try isRecognized(#"{"status":0,"receipt":{}}"#))
        #expect(try isRecognized(#"{"environment":"Sandbox","status":21002}"#))
        #expect(try !isRecognized(#"{"bundleId":"com.example.calculator"}"#))
        #expect(try !isRecognized(#"{"status":"active","receipt":{}}"#))
    }
}
