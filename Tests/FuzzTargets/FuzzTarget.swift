// Internal declarations are visible only in modules built for testing: in debug builds, and with `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Foundation

    /// One parser or verifier of untrusted bytes.
    package enum FuzzTarget: String, CaseIterable, Sendable {
        // Artifacts and responses of the App Store.

        /// A whole JWS of any kind. Only minted ones verify.
        case jws
        /// Payloads with a valid signature, to test the code after the signature check.
        case jwsPayload = "jws-payload"
        case json
        /// A whole receipt in BER or DER. Only minted ones verify.
        case receipt
        /// The content of a receipt with a valid signature.
        case receiptPayload = "receipt-payload"
        case receiptBase64 = "receipt-base64"
        case verifyReceipt = "verify-receipt"
        case appVersion = "app-version"
        /// The certificates of an operator, in PEM or DER.
        case anchors
        /// A response of the App Store Server API.
        case appStoreAnswer = "app-store-answer"

        // Files of a developer.

        case policy
        /// A compiled policy, as apps bundle it.
        case compiledPolicy = "compiled-policy"
        case signedPolicy = "signed-policy"
        /// The payload of a signed policy with a valid signature.
        case signedPolicyPayload = "signed-policy-payload"
        case releaseList = "release-list"
        case policyCases = "policy-cases"
        case scenario
        /// Operations of the local App Store's control interface.
        case operations
        /// An uncompressed file of evidence for a rehearsal.
        case evidenceLines = "evidence-lines"

        // Requests to the service, and stored data.

        case sync
        case notificationBody = "notification-body"
        /// Requests of support and of the app's server.
        case adminBody = "admin-body"
        /// An access token or a persona's token.
        case token
        /// The payload of a persona's token with a valid signature.
        case personaPayload = "persona-payload"
        case forwardedFor = "forwarded-for"
        /// The stored facts about a customer.
        case facts

        // Content delivery.

        case packManifest = "pack-manifest"
        /// The payload of a signed catalog with a valid signature.
        case contentCatalog = "content-catalog"
        /// `content.json` in an app's bundle.
        case embeddedContent = "embedded-content"
        /// `content.yaml`, which a developer writes.
        case contentYAML = "content-yaml"
        /// The token of a download link.
        case linkToken = "link-token"
        case rangeHeader = "range-header"

        // Inputs of the client.

        case entitlementToken = "entitlement-token"
        /// The payload of an entitlement token with a valid signature.
        case entitlementTokenPayload = "entitlement-token-payload"
        /// The payload of a statement about a signing key, or of a list of revoked keys, with a valid signature.
        case keyStatementPayload = "key-statement-payload"
        case publicKey = "public-key"
        case serviceAnswer = "service-answer"
        /// The local state with a valid seal.
        case clientState = "client-state"

        /// The longest input in bytes.
        package var maximumLength: Int {
            switch self {
            case .jws, .receipt, .receiptBase64, .verifyReceipt, .appStoreAnswer, .evidenceLines, .notificationBody:
                16_384
            case .appVersion, .token, .forwardedFor, .linkToken, .rangeHeader: 256
            case .publicKey: 1024
            default: 4096
            }
        }

        /// Runs the target. Traps if an invariant doesn't hold.
        package func run(_ input: [UInt8], in fixtures: FuzzFixtures) {
            switch self {
            case .jws: fixtures.tryJWS(input)
            case .jwsPayload: fixtures.tryPayload(input)
            case .json: tryJSON(input)
            case .receipt: fixtures.tryReceipt(input)
            case .receiptPayload: fixtures.tryReceiptContent(input)
            case .receiptBase64: tryBase64(input)
            case .verifyReceipt: tryVerifyReceipt(input)
            case .appVersion: tryVersions(input)
            case .anchors: tryAnchors(input)
            case .appStoreAnswer: fixtures.serverReaders.appStoreAnswer(input)
            case .policy: tryPolicy(input)
            case .compiledPolicy: tryCompiledPolicy(input)
            case .signedPolicy: FuzzedReaders.signedPolicy(input)
            case .signedPolicyPayload: FuzzedReaders.signedPolicyPayload(input)
            case .releaseList: FuzzedServerReaders.releaseList(input)
            case .policyCases: FuzzedServerReaders.policyCases(input, of: FuzzFixtures.policy)
            case .scenario: FuzzedServerReaders.scenario(input)
            case .operations: FuzzedServerReaders.operations(input)
            case .evidenceLines: fixtures.serverReaders.evidenceLines(input)
            case .sync: FuzzedReaders.sync(input)
            case .notificationBody: fixtures.serverReaders.notificationBody(input)
            case .adminBody: fixtures.serverReaders.adminBody(input)
            case .token: fixtures.serverReaders.token(input)
            case .personaPayload: fixtures.serverReaders.personaPayload(input)
            case .forwardedFor: fixtures.serverReaders.forwardedFor(input)
            case .facts: FuzzedReaders.facts(input)
            case .packManifest: FuzzedContent.manifest(input)
            case .contentCatalog: FuzzedContent.catalog(input)
            case .embeddedContent: FuzzedContent.embedded(input)
            case .contentYAML: fixtures.content.yaml(input)
            case .linkToken: fixtures.content.linkToken(input)
            case .rangeHeader: FuzzedContent.rangeHeader(input)
            case .entitlementToken: FuzzedReaders.entitlementToken(input, at: FuzzFixtures.instant)
            case .entitlementTokenPayload: FuzzedReaders.entitlementTokenPayload(input, at: FuzzFixtures.instant)
            case .keyStatementPayload: FuzzedReaders.keyStatementPayload(input)
            case .publicKey: FuzzedReaders.publicKey(input)
            case .serviceAnswer: FuzzedReaders.serviceAnswer(input)
            case .clientState: FuzzedReaders.clientState(input, at: FuzzFixtures.instant)
            }
        }
    }
#endif
