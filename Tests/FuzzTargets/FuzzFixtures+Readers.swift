// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Foundation
    import TenureAppStore
    import TenureCore
    import TenureMint
    import TenurePolicyFile

    /// Valid inputs for the readers of the service and the store.
    extension FuzzFixtures {
        var compiledPolicies: [[UInt8]] {
            get throws { try policies.map { PolicyFile.compile(try PolicyFile.read($0, named: "policy.yaml")) } }
        }

        /// The authority's root certificates in PEM.
        var anchors: [UInt8] {
            get throws {
                let folder = FileManager.default.temporaryDirectory.appending(path: "tenure-fuzz-authority-\(getpid())")
                defer { try? FileManager.default.removeItem(at: folder) }
                try authority.save(to: folder)
                return Array(try Data(contentsOf: folder.appending(path: "roots.pem")))
            }
        }

        var syncs: [[UInt8]] {
            get throws {
                let texts = try jws.map { String(decoding: $0.bytes.prefix(200), as: UTF8.self) }
                let body =
                    #"{"appTransaction":"\#(texts[0])","transactions":["\#(texts[1])","x"],"renewalInfos":["\#(texts[2])"],"receipt":"MIIB","deviceVerificationID":"2DC5FC88-D2C5-4B95-8F00-D2C54B958F00","deviceIdentifier":"00:1a:2B:3c:4d:5e"}"#
                return [Array(body.utf8), Array(#"{"transactions":[],"receipt":null,"new":{"a":[1.5e3]}}"#.utf8)]
            }
        }

        var facts: [UInt8] {
            get throws {
                func verified(_ kind: JWSKind) throws -> [UInt8] { try jwsMinter.mint(kind) }
                let app = try verifier.verifyAppTransaction(
                    try verified(.appTransaction), from: .appStoreServer, now: Self.instant)
                let transaction = try verifier.verifyTransaction(try verified(.transaction), now: Self.instant)
                let renewal = try verifier.verifyRenewalInfo(try verified(.renewalInfo), now: Self.instant)
                return FuzzedReaders.facts(
                    of: [app.proof], [try transaction.purchase], [try renewal.renewal])
            }
        }

        // MARK: Bodies

        private func texts() throws -> [String] { try jws.map { String(decoding: $0.bytes, as: UTF8.self) } }

        var appStoreAnswers: [[UInt8]] {
            get throws {
                let jws = try texts()
                return [
                    #"{"revision":"1_1","hasMore":false,"bundleId":"com.example.calculator","appAppleId":828838134,"environment":"Production","signedTransactions":["\#(jws[1])","x"]}"#,
                    #"{"revision":"1_1","hasMore":true,"signedTransactions":[]}"#,
                    #"{"environment":"Production","data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":1,"originalTransactionId":"1","signedTransactionInfo":"\#(jws[1])","signedRenewalInfo":"\#(jws[2])"}]}]}"#,
                    #"{"signedAppTransactionInfo":"\#(jws[0])"}"#,
                    #"{"paginationToken":"a","hasMore":false,"notificationHistory":[{"signedPayload":"\#(jws[3])","sendAttempts":[{"attemptDate":1795176000000,"sendAttemptResult":"SUCCESS"}]}]}"#,
                    #"{"status":0,"signedTransactions":["\#(jws[1])","x"]}"#,
                    #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#,
                    "1795176000000",
                ].map { Array($0.utf8) }
            }
        }

        var notificationBodies: [[UInt8]] {
            get throws {
                [#"{"signedPayload":"\#(try texts()[3])"}"#, #"{"notification_type":"CANCEL"}"#].map { Array($0.utf8) }
            }
        }

        var adminBodies: [[UInt8]] {
            get throws {
                [
                    #"{"entitlement":"everything","reason":"promised","until":"2026-11-20T12:00:00Z","userID":"u","customer":"cus_1","accessToken":"x","other":"cus_2","id":"s"}"#,
                    #"{"name":"Ada","set":{"originalPlatform":"iOS","originalAppVersion":"37","originalPurchaseDate":"2014-05-01"},"expires":"2026-11-20T12:00:00.5Z","replace":true,"platform":"macOS"}"#,
                    #"{"policy":"app: {}","version":3,"reason":"r","author":"a","keepPromises":true,"takeFrom":7,"rehearsal":"r"}"#,
                    #"{"artifact":"\#(try texts()[1].prefix(1500))"}"#,
                    #"{"artifact":"{\"status\":0,\"receipt\":{\"download_id\":1}}"}"#,
                ].map { Array($0.utf8) }
            }
        }

        /// Files with every form of evidence.
        var evidence: [[UInt8]] {
            get throws {
                let jws = try texts()
                let receipt = Data(try receiptMinter.mint()).base64EncodedString()
                return [
                    jws[0], "\u{FEFF}\"\(jws[1])\"\r\n\n\(receipt.prefix(2000))\n",
                    #"{"id":"c1","appTransaction":"\#(jws[0].prefix(900))","transactions":["x"],"renewalInfos":null,"receipt":"MIIB"}"#
                        + "\n{",
                ].map { Array($0.utf8) }
            }
        }
    }
#endif
