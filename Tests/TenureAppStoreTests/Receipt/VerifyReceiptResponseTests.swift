import TenureAppStore
import TenureJSON
import Testing

struct VerifyReceiptResponseTests {
    private func response(_ json: String) throws -> VerifyReceiptResponse {
        try response(Array(json.utf8))
    }

    private func response(_ file: [UInt8]) throws -> VerifyReceiptResponse {
        guard case .verifyReceiptResponse(let response) = try AppStoreArtifact(recognizing: file) else {
            throw Rejection(.wrongKind, "the file isn't a response of verifyReceipt")
        }
        return response
    }

    @Test func `a verifyReceipt response may have numbers as strings and strings as numbers`() throws {
        for (status, download, transaction) in [
            ("0", "9007199254740993", "1"), (#""0""#, #""9007199254740993""#, #""1""#),
        ] {
            let answer = try response(
                """
                {"status": \(status), "environment": "Production", "receipt": {"download_id": \(download),
                 "in_app": [{"product_id": "a", "transaction_id": \(transaction)}]}, "unknown": [1, {}]}
                """)
            #expect(answer.status == 0)
            #expect(answer.ids == ["9007199254740993", "1"])
        }
    }

    @Test func `a verifyReceipt response with a flat iOS 6 receipt has one purchase`() throws {
        let answer = try response(
            #"{"status":21006,"receipt":{"bid":"com.example.calculator","product_id":"a","transaction_id":"7"}}"#)
        #expect(answer.ids == ["7"])
    }

    @Test func `the latest receipt and the IDs of all purchases are read from a verifyReceipt response`() throws {
        let answer = try response(
            #"{"status":0,"latest_receipt":"MII=","latest_receipt_info":[{"transaction_id":"2","original_transaction_id":"1","app_account_token":"u"}],"receipt":{"download_id":0,"in_app":[{"transaction_id":"3"}]}}"#
        )
        #expect(answer.latestReceipt == "MII=")
        #expect(answer.ids == ["1", "2", "u", "3"])
    }

    @Test func `an error response of verifyReceipt has only a status`() throws {
        #expect(try response(#"{"status":21007}"#).status == 21_007)
        #expect(try response(#"{"status":21007}"#).ids.isEmpty)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"status":null}"#, #"{"status":"x"}"#, #"{"status":0.5}"#,
        #"{"status":0,"receipt":[]}"#, #"{"status":0,"receipt":{"in_app":[1]}}"#,
        #"{"status":0,"receipt":{"download_id":-1}}"#, #"{"status":0,"receipt":{"download_id":1e3}}"#,
    ])
    func `a field that can't be read makes a verifyReceipt response malformed`(_ json: String) throws {
        let rejection = #expect(throws: Rejection.self) { try response(json) }
        #expect(rejection?.code == .malformed)
    }

    @Test func `a verifyReceipt response that is too deeply nested or too large is refused`() throws {
        let deep = #"{"status":0,"receipt":"# + String(repeating: "[", count: 100_000)
        #expect(throws: Rejection.self) { try response(deep) }
        let rejection = #expect(throws: Rejection.self) {
            try response(Array(repeating: 0x20, count: VerifyReceiptResponse.maximumSize + 1))
        }
        #expect(rejection?.code == .tooLarge)
    }

    @Test func `a verifyReceipt response is recognized by its status`() throws {
        func isRecognized(_ json: String) throws -> Bool {
            guard case .object(let object) = try JSONValue(parsing: Array(json.utf8)) else { return false }
            return VerifyReceiptResponse.isRecognized(in: object)
        }
        #expect(try isRecognized(#"{"status":0,"receipt":{}}"#))
        #expect(try isRecognized(#"{"environment":"Sandbox","status":21002}"#))
        // A response without purchases has at most four fields.
        #expect(try isRecognized(#"{"status":21100,"environment":"Sandbox","is-retryable":1,"exception":"a"}"#))
        #expect(try !isRecognized(#"{"status":0,"a":1,"b":2,"c":3,"d":4}"#))
        for field in ["receipt", "latest_receipt_info"] {
            #expect(try isRecognized(#"{"status":0,"a":1,"b":2,"c":3,"\#(field)":[]}"#))
        }
        #expect(try !isRecognized(#"{"bundleId":"com.example.calculator"}"#))
        #expect(try !isRecognized(#"{"status":"active","receipt":{}}"#))
    }

    @Test func `a single purchase instead of a list is read, and IDs that are null, empty or missing are left out`()
        throws
    {
        let answer = try response(
            """
            {"status":0,"latest_receipt":"","latest_receipt_info":{"transaction_id":"2","original_transaction_id":""},
            "receipt":{"download_id":"","in_app":{"original_transaction_id":3,"transaction_id":null,
            "app_account_token":"u"}}}
            """)
        #expect(answer.ids == ["2", "3", "u"])
        #expect(answer.latestReceipt == nil)
        // A receipt that is a purchase itself has no list of purchases.
        let flat = try response(
            #"{"status":0,"receipt":{"download_id":5,"transaction_id":"7","in_app":[{"transaction_id":"8"}]}}"#)
        #expect(flat.ids == ["5", "7"])
    }

    @Test(arguments: [
        ("{}", "`status` is missing"), (#"{"status":""}"#, "`status` is missing"),
        (#"{"status":0.5}"#, "`status` isn't a whole number"), (#"{"status":true}"#, "`status` isn't a whole number"),
        (#"{"status":0,"receipt":[]}"#, "the value of `receipt` has the wrong type"),
        (#"{"status":0,"receipt":{"in_app":[1]}}"#, "the value of `in_app` has the wrong type"),
        (#"{"status":0,"latest_receipt_info":1}"#, "the value of `latest_receipt_info` has the wrong type"),
        (#"{"status":0,"latest_receipt":{}}"#, "the value of `latest_receipt` has the wrong type"),
        (
            #"{"status":0,"latest_receipt_info":[{"transaction_id":[]}]}"#,
            "the value of `transaction_id` has the wrong type"
        ),
        (
            #"{"status":0,"receipt":{"download_id":-1}}"#,
            "`download_id` isn't a whole number from 0 to 18446744073709551615"
        ),
    ])
    func `the text for a verifyReceipt response that can't be read names the field`(json: String, detail: String) throws
    {
        let tape = try JSONTape(Array(json.utf8))
        let rejection = #expect(throws: Rejection.self) {
            try VerifyReceiptResponse(JSONObject(tape, at: tape.root))
        }
        #expect(rejection?.code == .malformed)
        #expect(rejection?.detail == detail)
    }
}
