import TenureJSON

// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    package import Foundation
    import TenureAppStore
    import TenureCore
    package import TenureMint

    /// An invented app, its authority, and what it mints. It is a class because it is passed with every input.
    package final class FuzzFixtures {
        let authority: TestAuthority
        let verifier: AppStoreVerifier
        let jwsMinter: JWSMinter
        let receiptMinter: ReceiptMinter
        let serverReaders: FuzzedServerReaders
        let content: FuzzedContent
        static let instant = Date(timeIntervalSince1970: 1_795_176_000)

        /// - Parameters:
        ///   - folder: for the keys of the service and of content.
        ///   - authority: signs the valid inputs.
        package init(folder: URL, authority: TestAuthority) throws {
            self.authority = authority
            let trust = try TrustConfiguration(anchors: [
                .production: authority.anchors, .sandbox: authority.anchors, .xcode: authority.xcodeAnchors,
            ])
            verifier = AppStoreVerifier(app: AppIdentity(bundleID: "com.example.calculator"), trust: trust)
            jwsMinter = JWSMinter(authority: authority, signedAt: Self.instant)
            receiptMinter = ReceiptMinter(authority: authority, signedAt: Self.instant)
            serverReaders = try FuzzedServerReaders(verifier: verifier, folder: folder.path, now: Self.instant)
            content = try FuzzedContent(folder: folder.path)
        }

        private static let kinds: [JWSKind] = [.appTransaction, .transaction, .renewalInfo, .notification]

        // MARK: JWS

        var jws: [(kind: JWSKind, bytes: [UInt8])] {
            get throws { try Self.kinds.map { ($0, try jwsMinter.mint($0)) } }
        }

        var payloads: [[UInt8]] {
            get throws { try Self.kinds.map { JSONValue.object(try jwsMinter.payload(of: $0)).bytes } }
        }

        func tryJWS(_ input: [UInt8]) {
            _ = try? UnverifiedJWS(input)
            verifyAll(input)
        }

        func tryPayload(_ input: [UInt8]) {
            guard case .object(let object)? = try? JSONValue(parsing: input) else { return }
            guard let jws = try? jwsMinter.mint(payload: object) else { return }
            verifyAll(jws)
        }

        private func verifyAll(_ jws: [UInt8]) {
            var verified = 0
            if let transaction = try? verifier.verifyAppTransaction(jws, from: .appStoreServer, now: Self.instant) {
                verified += 1
                _ = transaction.proof
            }
            if let transaction = try? verifier.verifyTransaction(jws, now: Self.instant) {
                verified += 1
                _ = try? transaction.purchase
            }
            if let renewal = try? verifier.verifyRenewalInfo(jws, now: Self.instant) {
                verified += 1
                _ = try? renewal.renewal
            }
            if (try? verifier.verifyNotification(jws, now: Self.instant)) != nil { verified += 1 }
            guard verified <= 1 else { fatalError("one JWS passes as two kinds") }
        }

        // MARK: Receipts

        var receipts: [[UInt8]] {
            get throws {
                var xcode = MintedApp()
                xcode.environment = .xcode
                var sandbox = MintedApp()
                sandbox.environment = .sandbox
                return [
                    try receiptMinter.mint(),
                    try receiptMinter.mint(
                        receiptMinter.defaultReceipt, style: ReceiptStyle(form: .ber, digest: .sha1)),
                    try receiptMinter.mint(
                        receiptMinter.defaultReceipt, style: ReceiptStyle(hasSignedAttributes: true)),
                    try receiptMinter.mint(with: .nestedChunks),
                    try receiptMinter.mint(with: .indefiniteLengths),
                    try ReceiptMinter(authority: authority, app: xcode, signedAt: Self.instant).mint(),
                    try ReceiptMinter(authority: authority, app: sandbox, signedAt: Self.instant).mint(),
                ]
            }
        }

        func content(of receipt: [UInt8]) throws -> [UInt8]? {
            UnverifiedReceipt.content(of: receipt)
        }

        func tryReceipt(_ input: [UInt8]) {
            if let receipt = try? UnverifiedReceipt(input) { show(receipt.payload) }
            if let receipt = try? verifier.verifyReceipt(input, now: Self.instant) {
                _ = (receipt.proof, receipt.purchases)
            }
        }

        /// Reads the content without its container, because signing each input would take a millisecond.
        func tryReceiptContent(_ input: [UInt8]) {
            guard let payload = try? ReceiptPayload(unverifiedContent: input) else { return }
            show(payload)
        }

        private func show(_ payload: ReceiptPayload) {
            guard payload.fields.count >= 2 else { fatalError("a receipt without its required attributes was read") }
            _ = JSONValue.object(payload.verifyReceiptJSON).bytes
            _ = payload.matches(deviceIdentifier: [1, 2, 3])
        }

        var verifyReceiptAnswers: [[UInt8]] {
            get throws {
                var answer = JSONObject()
                answer["status"] = .number("0")
                answer["environment"] = .string("Production")
                answer["receipt"] = .object(try UnverifiedReceipt(receiptMinter.mint()).payload.verifyReceiptJSON)
                let flat =
                    #"{"status":21006,"receipt":{"bid":"com.example.calculator","bvrs":"1","transaction_id":"1","expires_date":"1595439548000"}}"#
                let renewals =
                    #"{"status":0,"is-retryable":1,"latest_receipt_info":[{"is_trial_period":"false","quantity":"1"}],"pending_renewal_info":[{"auto_renew_status":"1"}]}"#
                return [JSONValue.object(answer).bytes, Array(flat.utf8), Array(renewals.utf8)]
            }
        }

        // MARK: Policies

        static let policy = Array(texts[0].utf8)
        var policies: [String] { Self.texts }

        private static let texts = [
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras:
              - name: paid
                model: paid
              - name: freemium
                model: free
                begins:
                  iOS:   { build: "120",   at: 2015-06-10T18:00:00Z }
                  macOS: { version: "2.0", at: 2015-06-12T18:00:00Z }
                changeover: { from: -24h, until: +48h }
            buildNumbers: increasing
            entitlements:
              everything:
                products: [com.example.calculator.everything, com.example.calculator.yearly]
                honors: [paid]
                trial: { sessions: 5 }
              cloud:
                products: [com.example.calculator.yearly]
                honors:
                  - { era: paid, boughtSince: 2014-06-10, for: P1Y }
            inDoubt: favorCustomer
            whileUndetermined: { allow: 72h }
            testEnvironments: newCustomer
            """,
            #"{"app":{"bundleID":"com.example.calculator"},"eras":[{"name":"paid","model":"paid"}],"entitlements":{"a":{"honors":["paid"]}}}"#,
        ]
    }
#endif
