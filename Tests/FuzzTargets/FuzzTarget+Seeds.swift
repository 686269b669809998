// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Foundation
    import TenureAppStore
    import TenureMint
    import TenurePolicyFile

    /// Valid inputs that the fuzzer starts from.
    extension FuzzTarget {
        package func seeds(from fixtures: FuzzFixtures) throws -> [[UInt8]] {
            switch self {
            case .jws: try fixtures.jws.map(\.bytes)
            case .jwsPayload, .json:
                try fixtures.payloads + [Array(#"{"a":[1,2.5e3,true,null,"\u00e9\ud83d\ude00"]}"#.utf8)]
            case .receipt: try fixtures.receipts
            case .receiptPayload: try fixtures.receipts.compactMap { try fixtures.content(of: $0) }
            case .receiptBase64: try fixtures.receipts.map { Array(Data($0).base64EncodedData()) }
            case .verifyReceipt: try fixtures.verifyReceiptAnswers
            case .appVersion: Self.texts("1", "1.0.0", "2023.2.2", "0.0", " 15741 ", "99999999999999999999.1")
            case .anchors: [try fixtures.anchors]
            case .appStoreAnswer: try fixtures.appStoreAnswers
            case .policy: fixtures.policies.map { Array($0.utf8) }
            case .compiledPolicy: try fixtures.compiledPolicies
            case .signedPolicy: try fixtures.compiledPolicies.map { FuzzedReaders.signed(policy: $0).text }
            case .signedPolicyPayload: try fixtures.compiledPolicies.map { FuzzedReaders.signed(policy: $0).payload }
            case .releaseList: Self.releaseLists
            case .policyCases: Self.texts(Self.policyCaseFile)
            case .scenario: Self.texts(Self.story)
            case .operations: Self.operationBodies
            case .evidenceLines: try fixtures.evidence
            case .sync: try fixtures.syncs
            case .notificationBody: try fixtures.notificationBodies
            case .adminBody: try fixtures.adminBodies
            case .token: Self.texts("eyJhbGciOiJFUzI1NiJ9.e30.AAAA", String(repeating: "A", count: 67))
            case .personaPayload:
                Self.texts(#"{"iss":"tenure","jti":"per_1","sub":"Ada","bundleID":"com.example.calculator"}"#)
            case .forwardedFor:
                Self.texts("192.0.2.1, 127.0.0.2", "[2001:db8::1]:4711,127.0.0.1", "10.0.0.0/8", "::ffff:192.0.2.1")
            case .facts: try [fixtures.facts, FuzzedReaders.facts(of: [], [], [])]
            case .packManifest: FuzzedContent.manifests
            case .contentCatalog: FuzzedContent.catalogs
            case .embeddedContent: FuzzedContent.embeddedFiles
            case .contentYAML: FuzzedContent.yamls
            case .linkToken: fixtures.content.linkTokens
            case .rangeHeader: FuzzedContent.rangeHeaders
            case .entitlementToken: FuzzedReaders.entitlementTokens
            case .entitlementTokenPayload: [FuzzedReaders.entitlementTokenClaims]
            case .keyStatementPayload: FuzzedReaders.keyStatementPayloads
            case .publicKey: FuzzedReaders.publicKeys
            case .serviceAnswer: Self.serviceAnswers
            case .clientState: [FuzzedReaders.clientState(at: FuzzFixtures.instant)]
            }
        }

        private static func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

        private static let releaseLists = texts(
            "platform,version,build,releasedAt,model\niOS,1.4,37,2014-01-10,paid\nmacOS,\"2.0\",,2015-06-12T18:00:00Z,free\n",
            "Name,Price,Platform,Build Number,Release Date\r\n1.0,4.99,\"Mac OS X\",7,2014-01-10\r\n")

        private static let policyCaseFile = """
            now: 2020-01-01
            cases:
              - name: Ada
                evidence:
                  - { kind: appTransaction, platform: iOS, version: "37", purchased: 2014-05-01, signed: 2019-01-01 }
                expect: { everything: granted }
            """

        static let story = """
            scenario: A family member
            story: What happened, in a sentence
            seed: family
            begins: 2014-01-01
            environment: Production
            app:
              bundleID: com.example.calculator
              appleID: 828838134
              gracePeriodDays: 16
              releases:
                - { platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }
              prices:
                - { from: 2014-01-10, price: 4.99 }
              products:
                com.example.calculator.yearly:
                  type: autoRenewable
                  price: 19.99
                  prices: { DEU: 21.99 }
                  group: plans
                  level: 1
                  period: P1Y
                  familyShareable: true
                  introductory: { discount: freeTrial, period: P1W }
                  offers: [{ id: comeback, type: winBack, discount: payAsYouGo, period: P1M, count: 3, price: 0.99 }]
            customers:
              Ada: { family: Lovelace, storefront: GBR }
              Gus: { shows: receipt }
            timeline:
              - at: 2014-05-01
                Ada: acquires
                Gus: { acquires: iOS, release: "1.4" }
              - after: 31d
                Ada: [{ buys: com.example.calculator.yearly, offer: comeback }, { shares: com.example.calculator.yearly }]
                store: { network: down }
              - at: 2015-07-01
                service: catchesUp
                expect: { Ada: { everything: granted } }
                known: { Ada: { everything: denied } }
            """

        private static let operationBodies = texts(
            #"{"operation":"acquire","customer":"Ada","platform":"iOS","price":"4.99"}"#,
            #"[{"operation":"advance","by":"31d"},{"operation":"buy","customer":"Ada","product":"com.example.calculator.yearly","quantity":2}]"#,
            #"{"operation":"refund","customer":"Ada","product":"com.example.calculator.yearly","percent":50,"periodsAgo":1}"#
        )

        private static let serviceAnswers = texts(
            #"{"id":"cus_1","bound":true,"environment":"Production","entitlements":{"everything":{"outcome":"granted","until":null,"reasons":[{"code":"eraHonored"}],"sentence":"Yours."}},"purchases":[{"productID":"com.example.calculator.yearly","transactionID":"1","originalTransactionID":"1"}],"purchasesAreComplete":true,"certificate":"a.b.c","accessToken":{"value":"x","expiresAt":"2026-11-20T12:00:00Z"}}"#,
            #"{"entitlement":"everything","isOwner":false,"sessionsLeft":3,"ends":"2026-11-20T12:00:00Z"}"#,
            #"{"products":[{"id":"com.example.calculator.yearly","grants":[{"entitlement":"everything","for":"P3M"}]}],"entitlements":[{"name":"everything","products":["com.example.calculator.yearly"],"trial":{"sessions":5}}]}"#,
            #"{"type":"about:blank","title":"no","status":429,"code":"rateLimited","detail":"later"}"#,
            #"{"text":"a.b.c","tag":"W/\"1\"","highestCounter":7}"#)
    }
#endif
