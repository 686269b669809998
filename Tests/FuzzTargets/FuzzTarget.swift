// What is not `package` is seen only where modules are built for testing: in debug builds, and as `Scripts/fuzz` says.
#if DEBUG || FUZZING
    import Foundation

    /// One parser or verifier of untrusted bytes.
    package enum FuzzTarget: String, CaseIterable, Sendable {
        // What the App Store signs, or says.

        /// A whole JWS of any kind: nothing but what was minted verifies.
        case jws
        /// Payloads under a sound signature: what stands behind the signature check.
        case jwsPayload = "jws-payload"
        case json
        /// A whole receipt in BER or DER: nothing but what was minted verifies.
        case receipt
        /// The content of a receipt under a sound signature.
        case receiptPayload = "receipt-payload"
        case receiptBase64 = "receipt-base64"
        case verifyReceipt = "verify-receipt"
        case appVersion = "app-version"
        /// The certificates of an operator, in PEM or DER.
        case anchors
        /// An answer of the App Store Server API.
        case appStoreAnswer = "app-store-answer"

        // What a developer writes, or gets from elsewhere.

        case policy
        /// A policy as apps bundle it.
        case compiledPolicy = "compiled-policy"
        case signedPolicy = "signed-policy"
        /// The payload of a signed policy under a sound signature.
        case signedPolicyPayload = "signed-policy-payload"
        case releaseList = "release-list"
        case policyCases = "policy-cases"
        case scenario
        /// What the local App Store is told to let happen.
        case acts
        /// A file of evidence for a rehearsal, before `gzip` has seen it.
        case evidenceLines = "evidence-lines"

        // What the service is sent, and what it keeps.

        case sync
        case notificationBody = "notification-body"
        /// What support, and the app's own server, send.
        case adminBody = "admin-body"
        /// An access token, or a persona's.
        case token
        /// The payload of a persona's token under a sound signature.
        case personaPayload = "persona-payload"
        case forwardedFor = "forwarded-for"
        /// What the record holds of a customer.
        case facts

        // What delivers content.

        case packManifest = "pack-manifest"
        /// The payload of a signed catalog under a sound signature.
        case contentCatalog = "content-catalog"
        /// `content.json` in an app's bundle.
        case embeddedContent = "embedded-content"
        /// `content.yaml`, which a developer writes.
        case contentYAML = "content-yaml"
        /// The token of a download link.
        case linkToken = "link-token"
        case rangeHeader = "range-header"

        // What the client reads.

        case entitlementToken = "entitlement-token"
        /// The payload of an entitlement token under a sound signature.
        case entitlementTokenPayload = "entitlement-token-payload"
        /// The payload of a statement about a signing key, or of a list of revoked ones, under a sound signature.
        case keyStatementPayload = "key-statement-payload"
        case publicKey = "public-key"
        case serviceAnswer = "service-answer"
        /// The local state under a sound seal.
        case clientState = "client-state"

        /// Bytes.
        package var maximumLength: Int {
            switch self {
            case .jws, .receipt, .receiptBase64, .verifyReceipt, .appStoreAnswer, .evidenceLines, .notificationBody:
                16_384
            case .appVersion, .token, .forwardedFor, .linkToken, .rangeHeader: 256
            case .publicKey: 1024
            default: 4096
            }
        }

        /// Runs into a trap where an invariant does not hold.
        package func run(_ input: [UInt8], in world: World) {
            switch self {
            case .jws: world.tryJWS(input)
            case .jwsPayload: world.tryPayload(input)
            case .json: tryJSON(input)
            case .receipt: world.tryReceipt(input)
            case .receiptPayload: world.tryReceiptContent(input)
            case .receiptBase64: tryBase64(input)
            case .verifyReceipt: tryVerifyReceipt(input)
            case .appVersion: tryVersions(input)
            case .anchors: tryAnchors(input)
            case .appStoreAnswer: world.strangers.appStoreAnswer(input)
            case .policy: tryPolicy(input)
            case .compiledPolicy: tryCompiledPolicy(input)
            case .signedPolicy: FuzzedReaders.signedPolicy(input)
            case .signedPolicyPayload: FuzzedReaders.signedPolicyPayload(input)
            case .releaseList: FuzzedStrangers.releaseList(input)
            case .policyCases: FuzzedStrangers.policyCases(input, of: World.policy)
            case .scenario: FuzzedStrangers.scenario(input)
            case .acts: FuzzedStrangers.acts(input)
            case .evidenceLines: world.strangers.evidenceLines(input)
            case .sync: FuzzedReaders.sync(input)
            case .notificationBody: world.strangers.notificationBody(input)
            case .adminBody: world.strangers.adminBody(input)
            case .token: world.strangers.token(input)
            case .personaPayload: world.strangers.personaPayload(input)
            case .forwardedFor: world.strangers.forwardedFor(input)
            case .facts: FuzzedReaders.facts(input)
            case .packManifest: FuzzedContent.manifest(input)
            case .contentCatalog: FuzzedContent.catalog(input)
            case .embeddedContent: FuzzedContent.embedded(input)
            case .contentYAML: world.content.yaml(input)
            case .linkToken: world.content.linkToken(input)
            case .rangeHeader: FuzzedContent.rangeHeader(input)
            case .entitlementToken: FuzzedReaders.entitlementToken(input, at: World.instant)
            case .entitlementTokenPayload: FuzzedReaders.entitlementTokenPayload(input, at: World.instant)
            case .keyStatementPayload: FuzzedReaders.keyStatementPayload(input)
            case .publicKey: FuzzedReaders.publicKey(input)
            case .serviceAnswer: FuzzedReaders.serviceAnswer(input)
            case .clientState: FuzzedReaders.clientState(input, at: World.instant)
            }
        }
    }
#endif
